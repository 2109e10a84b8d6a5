import { createRequire } from 'node:module'
import type { Ajv2020, Options } from 'ajv/dist/2020.js'
import { formats } from './formats.ts'

/** The schemas that a run validates by: compiled at build time. The others would take a tenth of its memory. */
export const runSchemas = [
  ...([
    'llm-tool-completion',
    'job',
    'created-job',
    'pdf-content',
    'error-envelope',
    'chat-completion',
  ] as const),
  ...(['medical-entities', 'target', 'baseline'] as const),
]
export type SchemaName = (typeof runSchemas)[number] | 'report' | 'certificate'

export function schemaFile(name: SchemaName): string {
  return `schemas/${name}.schema.json`
}

export function optionsFor(name: SchemaName): Options {
  // Every mistake in a target file is reported. References have sibling members.
  if (name === 'target')
    return { strictTypes: false, allErrors: true, verbose: true, inlineRefs: false, formats }
  return {
    strict: true,
    // Items after choices[0] are free.
    strictTuples: false,
    allErrors: false,
    // Members inherited from Object.prototype do not count.
    ownProperties: true,
    verbose: true,
    formats,
  }
}

/**
 * Loaded on demand: most runs compile nothing. `withFormats`: JSON Schema's formats, for schemas of others; added one
 * by one, since ajv-formats as a whole loads another ajv and non-standard keywords.
 */
export function newAjv(options: Options, { withFormats = false } = {}): Ajv2020 {
  const require = createRequire(import.meta.url)
  const { Ajv2020 } = require('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js')
  if (!withFormats) return new Ajv2020(options)
  const { fullFormats } =
    require('ajv-formats/dist/formats.js') as typeof import('ajv-formats/dist/formats.js')
  return new Ajv2020({ ...options, formats: fullFormats })
}
