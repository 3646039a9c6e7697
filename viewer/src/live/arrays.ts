import { DataType, type NdArray } from "../proto/eipc/v1/geometry_pb.js";

// A copy: messages lie anywhere in a frame, and numbers only at multiples of their size.
function aligned(array: NdArray): ArrayBuffer {
  return array.data.slice().buffer;
}

export function toFloats(array: NdArray | undefined): Float32Array {
  if (!array) return new Float32Array(0);
  if (array.dtype === DataType.FLOAT32) return new Float32Array(aligned(array));
  if (array.dtype === DataType.FLOAT64) return Float32Array.from(new Float64Array(aligned(array)));
  throw new Error(`an array of floating-point numbers was expected, not ${DataType[array.dtype]}`);
}

export function toIndices(array: NdArray | undefined): Uint32Array {
  if (!array) return new Uint32Array(0);
  if (array.dtype !== DataType.INT32) throw new Error(`an array of INT32 was expected, not ${DataType[array.dtype]}`);
  return new Uint32Array(aligned(array));
}
