import { DirectionalLight, HemisphereLight, Vector3, type Object3D } from "three";

const UP = new Vector3(0.5, -0.65, 1.1).normalize();

// The lights of a scene of that size about its middle, m: the sky's, and the sun's, which casts shadows.
export function makeLights(size: number, middle: Vector3): Object3D[] {
  const sun = new DirectionalLight(0xffffff, 2.2);
  sun.position.copy(middle).addScaledVector(UP, 3 * size);
  sun.target.position.copy(middle);
  sun.castShadow = true;
  sun.shadow.mapSize.set(1024, 1024);
  const { camera } = sun.shadow;
  camera.left = camera.bottom = -0.75 * size;
  camera.right = camera.top = 0.75 * size;
  camera.near = 0.5 * size;
  camera.far = 6 * size;
  sun.shadow.bias = -0.0005;
  sun.shadow.normalBias = 0.004 * size;
  return [new HemisphereLight(0xffffff, 0x8a8378, 1.5), sun, sun.target];
}

// Whether shadows' edges are softened; for the uniform `softShadows` of shaders that include SUNLIGHT.
export const softShadows = { value: true };

// What of the sun's light comes to a fragment, for fragment shaders that include three's lights and shadow maps. A look into the map
// compares four texels; four looks about the place soften the shadow's edge.
export const SUNLIGHT = `
uniform bool softShadows;
float sunlight() {
#if defined( USE_SHADOWMAP ) && NUM_DIR_LIGHT_SHADOWS > 0
  vec3 at = vDirectionalShadowCoord[ 0 ].xyz; // parallel light: there is no perspective
  if ( receiveShadow && all( lessThan( abs( at - 0.5 ), vec3( 0.5 ) ) ) ) {
    float depth = at.z + directionalLightShadows[ 0 ].shadowBias;
    if ( ! softShadows ) return texture( directionalShadowMap[ 0 ], vec3( at.xy, depth ) );
    vec2 texel = 0.75 / directionalLightShadows[ 0 ].shadowMapSize;
    return 0.25 * ( texture( directionalShadowMap[ 0 ], vec3( at.xy + texel * vec2( -0.33, -1.0 ), depth ) )
                  + texture( directionalShadowMap[ 0 ], vec3( at.xy + texel * vec2( 1.0, -0.33 ), depth ) )
                  + texture( directionalShadowMap[ 0 ], vec3( at.xy + texel * vec2( 0.33, 1.0 ), depth ) )
                  + texture( directionalShadowMap[ 0 ], vec3( at.xy + texel * vec2( -1.0, 0.33 ), depth ) ) );
  }
#endif
  return 1.0;
}
`;
