import type { ValidateFunction } from 'ajv/dist/2020.js'

/** By name of the schema; empty in a checkout, where schemas are compiled on demand. */
export const precompiled: Readonly<Record<string, ValidateFunction>> = {}
