// Writes the schemas that are derived from code: they ship in the package and are not in the repository.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { _ } from 'ajv'
import { createJiti } from 'jiti'

const require = createRequire(import.meta.url)
const standaloneCode = require('ajv/dist/standalone').default
const { Ajv2020 } = require('ajv/dist/2020.js')

const root = fileURLToPath(new URL('..', import.meta.url))
const schemas = `${root}schemas/`

/** Whether a bare name imports a package, which is not bundled but installed. */
export const isPackage = (id) => /^[^./\0]/.test(id) && !/^(compiled-schema:|[A-Za-z]:)/.test(id)

/** None of our modules has side effects when loaded, so chunks contain only what they use. */
export const treeshake = {
  moduleSideEffects: (id) =>
    id.startsWith(root) && !id.includes('/node_modules/') ? false : undefined,
}

/** Sources of each schema by path: a TypeScript module, and the document in its exports. */
const makers = {
  'schemas/openapi.json': ['./openapi/paths.ts', (module) => module.openapiDocument()],
  'schemas/report.schema.json': ['../schemas/report.ts', (module) => module.reportSchema],
  'schemas/certificate.schema.json': [
    '../cli/certificate/statement-schema.ts',
    (module) => module.statementSchema,
  ],
}

/** Leaves an up-to-date file alone: another process may be reading it. */
export async function writeSchemas(load) {
  for (const [name, [module, documentIn]] of Object.entries(makers)) {
    const text = `${JSON.stringify(documentIn(await load(module)), null, 2)}\n`
    if (!existsSync(root + name) || readFileSync(root + name, 'utf8') !== text)
      writeFileSync(root + name, text)
  }
}

/**
 * Writes the schemas, and returns compiled code that replaces `schemas/precompiled.ts`, so that no run compiles them.
 * Compiler options are in `schemas/validate.ts`, which Node 20 cannot load directly.
 */
export async function compiledSchemas() {
  const { import: load } = createJiti(import.meta.url)
  await writeSchemas(load)
  const how = await load(`${schemas}validate.ts`)
  const prefix = '\0compiled-schema:'
  return {
    name: 'compiled-schemas',
    resolveId(id) {
      return id.startsWith('compiled-schema:') ? `\0${id}` : null
    },
    load(id) {
      if (id === `${schemas}precompiled.ts`) return precompiled(how.runSchemas)
      return id.startsWith(prefix) ? codeOf(id.slice(prefix.length), how) : null
    },
  }
}

function precompiled(names) {
  const imports = names.map((name, at) => `import validate${at} from 'compiled-schema:${name}'`)
  const members = names.map((name, at) => `${JSON.stringify(name)}: validate${at}`)
  return {
    code: `${imports.join('\n')}\nexport const precompiled = { ${members.join(', ')} }\n`,
    moduleType: 'js',
  }
}

function codeOf(name, how) {
  const { formats, ...options } = how.optionsFor(name)
  const ajv = new Ajv2020({
    ...options,
    ...(formats ? { formats } : {}),
    code: { source: true, esm: true, lines: true, formats: _`conformFormats` },
  })
  const validate = ajv.compile(JSON.parse(readFileSync(`${schemas}${name}.schema.json`, 'utf8')))
  const imported = `import { formats as conformFormats } from '${schemas}formats.ts'`
  return { code: `${imported}\n${standaloneCode(ajv, validate)}`, moduleType: 'js' }
}
