// Prints the report of Khronos' validator on a glTF file, as JSON:   node gltf.mjs FILE

import { readFileSync } from "node:fs";
import validator from "gltf-validator";

console.log(JSON.stringify(await validator.validateBytes(new Uint8Array(readFileSync(process.argv[2])))));
