import { Color, MeshDepthMaterial, MeshLambertMaterial, RGBADepthPacking, type DataTexture, type Material, type WebGLProgramParametersWithUniforms } from "three";
import { softShadows, SUNLIGHT } from "../scene/sunlight.js";
import { WIDTH } from "./cage_texture.js";

const PLACES = `
uniform highp sampler2D places;
uniform highp sampler2D placesAtStart;
attribute uvec4 cageNodes;
attribute vec4 cageWeights;
vec3 placeOf(highp sampler2D texels, uint node) {
  return texelFetch(texels, ivec2(int(node % ${WIDTH}u), int(node / ${WIDTH}u)), 0).xyz;
}
vec3 surfacePlace() {
  return cageWeights.x * placeOf(places, cageNodes.x) + cageWeights.y * placeOf(places, cageNodes.y)
       + cageWeights.z * placeOf(places, cageNodes.z) + cageWeights.w * placeOf(places, cageNodes.w);
}
mat3 tetrahedron(highp sampler2D texels) {
  vec3 a = placeOf(texels, cageNodes.x);
  return mat3(placeOf(texels, cageNodes.y) - a, placeOf(texels, cageNodes.z) - a, placeOf(texels, cageNodes.w) - a);
}
`;

// Normals turn by the inverse transpose of the deformation gradient F = D D0^-1: F^-T n is along cofactor(D) (D0^T n).
const TURN = `
vec3 turned(vec3 n) {
  mat3 d = tetrahedron(places);
  vec3 edges = n * tetrahedron(placesAtStart);
  vec3 m = cross(d[1], d[2]) * edges.x + cross(d[2], d[0]) * edges.y + cross(d[0], d[1]) * edges.z;
  return normalize(dot(d[0], cross(d[1], d[2])) < 0.0 ? -m : m);
}
`;

// Colours of a scale from 0 to its end (viridis), as in style.css.
const SCALE = [0x440154, 0x3b528b, 0x21918c, 0x5ec962, 0xfde725].map((hex) => new Color(hex));

const HEAT = `
uniform float heatShown; // 0: no; 1: where it is not 0; 2: everywhere
uniform vec3 heatScale[${SCALE.length}];
varying float vHeat;
vec3 heated(vec3 plain) {
  float at = clamp(vHeat, 0.0, 1.0) * ${SCALE.length - 1}.0;
  int low = min(int(at), ${SCALE.length - 2});
  vec3 color = mix(heatScale[low], heatScale[low + 1], at - float(low));
  return mix(plain, color, heatShown > 1.5 ? 1.0 : heatShown * smoothstep(0.0, 0.03, vHeat));
}
`;

// What three's shader of a matt surface computes, without its loops over lights that are not there: it is run for every pixel, on
// some computers by the processor.
const MATT = `
uniform vec3 diffuse;
uniform float opacity;
#include <common>
#include <normal_pars_fragment>
#include <lights_pars_begin>
#include <shadowmap_pars_fragment>
${SUNLIGHT}${HEAT}
void main() {
  vec3 n = normalize( vNormal );
  float sun = max( dot( n, directionalLights[ 0 ].direction ), 0.0 );
  if ( sun > 0.0 ) sun *= sunlight();
  vec3 sky = mix( hemisphereLights[ 0 ].groundColor, hemisphereLights[ 0 ].skyColor, 0.5 * dot( n, hemisphereLights[ 0 ].direction ) + 0.5 );
  vec3 color = heatShown > 0.0 ? heated( diffuse ) : diffuse;
  gl_FragColor = vec4( RECIPROCAL_PI * color * ( sky + sun * directionalLights[ 0 ].color ), opacity );
  #include <colorspace_fragment>
}
`;

// 0, 1 or 2: whether a material shows the attribute `heat` of its vertices.
export interface HeatShown {
  value: number;
}

function addHeat(shader: WebGLProgramParametersWithUniforms, shown: HeatShown): void {
  shader.uniforms["softShadows"] = softShadows;
  shader.uniforms["heatShown"] = shown;
  shader.uniforms["heatScale"] = { value: SCALE };
  shader.vertexShader = shader.vertexShader.replace("void main() {", "attribute float heat;\nvarying float vHeat;\nvoid main() {\n  vHeat = heat;");
  shader.fragmentShader = MATT;
}

export interface CagePlaces {
  readonly now: DataTexture;
  readonly start: DataTexture;
}

// Makes a material place its vertices by the cage; turning: it turns normals too, else they are given for the sample.
function onCage<M extends Material>(material: M, places: CagePlaces, turning: boolean, heat: HeatShown | null): M {
  material.onBeforeCompile = (shader) => {
    shader.uniforms["places"] = { value: places.now };
    shader.uniforms["placesAtStart"] = { value: places.start };
    shader.vertexShader = shader.vertexShader
      .replace("#include <common>", `#include <common>\n${PLACES}${turning ? TURN : ""}`)
      .replace("#include <beginnormal_vertex>", `vec3 objectNormal = ${turning ? "turned(normal)" : "normal"};`)
      .replace("#include <begin_vertex>", "vec3 transformed = surfacePlace();");
    if (heat) addHeat(shader, heat);
  };
  material.customProgramCacheKey = () => `cage ${turning} ${heat !== null}`;
  return material;
}

export function cageMaterial(color: number, places: CagePlaces, turning: boolean, heat: HeatShown): MeshLambertMaterial {
  return onCage(plainMaterial(color), places, turning, heat);
}

export function stillMaterial(color: number, heat: HeatShown): MeshLambertMaterial {
  const material = plainMaterial(color);
  material.onBeforeCompile = (shader) => { addHeat(shader, heat); };
  material.customProgramCacheKey = () => "still";
  return material;
}

export function cageDepthMaterial(places: CagePlaces): MeshDepthMaterial {
  return onCage(new MeshDepthMaterial({ depthPacking: RGBADepthPacking }), places, false, null);
}

function plainMaterial(color: number): MeshLambertMaterial {
  return new MeshLambertMaterial({ color });
}
