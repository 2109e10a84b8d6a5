import { createRequire } from 'node:module'
import type { Ajv2020, Options } from 'ajv/dist/2020.js'
import { formats } from './formats.ts'

export type SchemaName =
  | 'llm-tool-completion'
  | 'job'
  | 'created-job'
  | 'pdf-content'
  | 'error-envelope'
  | 'chat-completion'
  | 'medical-entities'
  | 'report'
  | 'target'

/** How each schema is compiled: at build time for what is shipped, when it is first needed in a checkout. */
export function optionsFor(name: SchemaName): Options {
  // A target file is judged whole: each mistake in it is told.
  if (name === 'target') return { strict: true, strictRequired: false, allErrors: true, verbose: true }
  return {
    strict: true,
    // What stands beyond choices[0] is free.
    strictTuples: false,
    allErrors: false,
    // A member named like one of Object.prototype is no member of the body.
    ownProperties: true,
    verbose: true,
    formats,
  }
}

/** Loaded when first needed: most commands judge nothing. */
export function newAjv(options: Options): Ajv2020 {
  const { Ajv2020 } = createRequire(import.meta.url)('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js')
  return new Ajv2020(options)
}
