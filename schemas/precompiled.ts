import type { ValidateFunction } from 'ajv/dist/2020.js'
import type { SchemaName } from './ajv.ts'

/** Empty in a checkout, where schemas are compiled on demand. */
export const precompiled: Readonly<Partial<Record<SchemaName, ValidateFunction>>> = {}
