// Writes the schemas that follow from code, and the readings as data: what is made stands in the package, not in the repository.
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

/** Says whether a bare name imports a package, of which nothing is taken in: it is installed beside. */
export const isPackage = (id) => /^[^./\0]/.test(id) && !/^(compiled-schema:|[A-Za-z]:)/.test(id)

/** No module of ours does anything by being loaded: of what a folder's face names, a chunk gets what it uses. */
export const treeshake = {
  moduleSideEffects: (id) =>
    id.startsWith(root) && !id.includes('/node_modules/') ? false : undefined,
}

/** Makers of each schema, by its path: a module in TypeScript, and the document in what that exports. */
const makers = {
  'schemas/openapi.json': ['./openapi/paths.ts', ({ openapiDocument }) => openapiDocument()],
  'schemas/report.schema.json': [
    '../harness/report/report-schema.ts',
    ({ reportSchema }) => reportSchema,
  ],
  'schemas/certificate.schema.json': [
    '../cli/certificate/statement-schema.ts',
    ({ statementSchema }) => statementSchema,
  ],
  'catalogue/readings.json': ['./readings.ts', ({ readings }) => readings()],
}

/** A file that is right already is left alone: somebody may read it. */
async function writeSchemas(load) {
  for (const [name, [module, documentIn]] of Object.entries(makers)) {
    const text = `${JSON.stringify(documentIn(await load(module)), null, 2)}\n`
    if (!existsSync(root + name) || readFileSync(root + name, 'utf8') !== text)
      writeFileSync(root + name, text)
  }
}

/**
 * Writes the schemas, and puts the code of compiled ones in the place of `schemas/validators.ts`, so that no run compiles them. How they
 * are compiled is said in one place for both, `schemas/ajv.ts`, in TypeScript, which Node 20 does not load.
 */
export async function compiledSchemas() {
  const { import: load } = createJiti(import.meta.url)
  await writeSchemas(load)
  const how = await load(`${schemas}ajv.ts`)
  const prefix = '\0compiled-schema:'
  return {
    name: 'compiled-schemas',
    resolveId(id) {
      return id.startsWith('compiled-schema:') ? `\0${id}` : null
    },
    load(id) {
      if (id === `${schemas}validators.ts`) return dispatcher(how.schemaNames)
      return id.startsWith(prefix) ? codeOf(id.slice(prefix.length), how) : null
    },
  }
}

/** A module that loads nothing but the code of the schemas: all of them are a few KB. */
function dispatcher(names) {
  const imports = names.map((name, at) => `import validate${at} from 'compiled-schema:${name}'`)
  const members = names.map((name, at) => `${JSON.stringify(name)}: validate${at}`)
  return {
    code: `${imports.join('\n')}\nconst all = { ${members.join(', ')} }\nexport const validatorOf = (name) => all[name]\n`,
    moduleType: 'js',
  }
}

function codeOf(name, { optionsFor, schemaFile }) {
  const { formats, ...options } = optionsFor(name)
  const ajv = new Ajv2020({
    ...options,
    ...(formats ? { formats } : {}),
    code: { source: true, esm: true, lines: true, formats: _`conformFormats` },
  })
  const validate = ajv.compile(JSON.parse(readFileSync(`${root}${schemaFile(name)}`, 'utf8')))
  const imported = `import { formats as conformFormats } from '${schemas}formats.ts'`
  return { code: `${imported}\n${standaloneCode(ajv, validate)}`, moduleType: 'js' }
}
