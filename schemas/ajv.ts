import { createRequire } from 'node:module'
import type { Ajv2020, Options } from 'ajv/dist/2020.js'
import { formats } from './formats.ts'

export const schemaNames = [
  ...([
    'llm-tool-completion',
    'job',
    'created-job',
    'pdf-content',
    'error-envelope',
    'chat-completion',
  ] as const),
  ...(['medical-entities', 'report', 'target', 'baseline', 'certificate'] as const),
]
export type SchemaName = (typeof schemaNames)[number]

export function schemaFile(name: SchemaName): string {
  return `schemas/${name}.schema.json`
}

/** How each schema is compiled: at build time for what is shipped, when it is first needed in a checkout. */
export function optionsFor(name: SchemaName): Options {
  // A target file is judged whole: each mistake in it is told. Members that a definition shares stand beside a reference to it.
  if (name === 'target')
    return { strictTypes: false, allErrors: true, verbose: true, inlineRefs: false, formats }
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

/**
 * Loaded when first needed: most runs compile nothing. `withFormats`: those that JSON Schema names, for schemas of others; by
 * themselves, since ajv-formats as a whole loads another ajv, and adds keywords that no JSON Schema has.
 */
export function newAjv(options: Options, { withFormats = false } = {}): Ajv2020 {
  const require = createRequire(import.meta.url)
  const { Ajv2020 } = require('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js')
  if (!withFormats) return new Ajv2020(options)
  const { fullFormats } =
    require('ajv-formats/dist/formats.js') as typeof import('ajv-formats/dist/formats.js')
  return new Ajv2020({ ...options, formats: fullFormats })
}
