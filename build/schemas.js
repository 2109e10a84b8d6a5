// Writes the schemas that follow from code: what is made stands in the package, not in the repository.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createJiti } from 'jiti'

const { import: load } = createJiti(import.meta.url)

/** Must come before anything that compiles or packs the schemas. A file that is right already is left alone: somebody may read it. */
export async function writeSchemas() {
  const { openapiDocument } = await load('./openapi/paths.ts')
  const { targetSchema } = await load('./target-schema/target-schema.ts')
  const { reportSchema } = await load('../harness/report/report-schema.ts')
  const { statementSchema } = await load('../certificate/statement-schema.ts')
  for (const [name, document] of [
    ['schemas/openapi.json', openapiDocument()],
    ['schemas/target.schema.json', targetSchema()],
    ['schemas/report.schema.json', reportSchema],
    ['certificate/certificate.schema.json', statementSchema],
  ]) {
    const path = fileURLToPath(new URL(`../${name}`, import.meta.url))
    const text = `${JSON.stringify(document, null, 2)}\n`
    if (!existsSync(path) || readFileSync(path, 'utf8') !== text) writeFileSync(path, text)
  }
}
