// Writes the schemas that follow from code, and the readings as data: what is made stands in the package, not in the repository.
import { createJiti } from 'jiti'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Makers of each schema, by its path: a module in TypeScript, and the document in what that exports. */
const makers = {
  'schemas/openapi.json': ['./openapi/paths.ts', ({ openapiDocument }) => openapiDocument()],
  'schemas/target.schema.json': ['./target-schema/target-schema.ts', ({ targetSchema }) => targetSchema()],
  'schemas/report.schema.json': ['../harness/report/report-schema.ts', ({ reportSchema }) => reportSchema],
  'certificate/certificate.schema.json': [
    '../certificate/statement-schema.ts',
    ({ statementSchema }) => statementSchema,
  ],
  'catalogue/readings.json': ['./readings.ts', ({ readings }) => readings()],
}

/** Must come before anything that compiles or packs the schemas. A file that is right already is left alone: somebody may read it. */
export async function writeSchemas() {
  const { import: load } = createJiti(import.meta.url)
  for (const [name, [module, documentIn]] of Object.entries(makers)) {
    const path = fileURLToPath(new URL(`../${name}`, import.meta.url))
    const text = `${JSON.stringify(documentIn(await load(module)), null, 2)}\n`
    if (!existsSync(path) || readFileSync(path, 'utf8') !== text) writeFileSync(path, text)
  }
}
