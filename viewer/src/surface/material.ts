import { MeshDepthMaterial, MeshStandardMaterial, RGBADepthPacking, type DataTexture, type Material } from "three";
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

export interface CagePlaces {
  readonly now: DataTexture;
  readonly start: DataTexture;
}

// Makes a material place its vertices by the cage; turning: it turns normals too, else they are given for the sample.
function onCage<M extends Material>(material: M, places: CagePlaces, turning: boolean): M {
  material.onBeforeCompile = (shader) => {
    shader.uniforms["places"] = { value: places.now };
    shader.uniforms["placesAtStart"] = { value: places.start };
    shader.vertexShader = shader.vertexShader
      .replace("#include <common>", `#include <common>\n${PLACES}${turning ? TURN : ""}`)
      .replace("#include <beginnormal_vertex>", `vec3 objectNormal = ${turning ? "turned(normal)" : "normal"};`)
      .replace("#include <begin_vertex>", "vec3 transformed = surfacePlace();");
  };
  material.customProgramCacheKey = () => `cage ${turning}`;
  return material;
}

export function cageMaterial(color: number, places: CagePlaces, turning: boolean): MeshStandardMaterial {
  return onCage(plainMaterial(color), places, turning);
}

export function cageDepthMaterial(places: CagePlaces): MeshDepthMaterial {
  return onCage(new MeshDepthMaterial({ depthPacking: RGBADepthPacking }), places, false);
}

export function plainMaterial(color: number): MeshStandardMaterial {
  return new MeshStandardMaterial({ color, roughness: 0.75, metalness: 0 });
}
