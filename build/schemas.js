// npm run schemas: writes schemas/openapi.json and schemas/target.schema.json from the catalogue and the other schemas.
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createJiti } from 'jiti'
import { format } from 'oxfmt'

const { import: load } = createJiti(import.meta.url)
const { openapiDocument } = await load('./openapi/paths.ts')
const { targetSchema } = await load('./target-schema/target-schema.ts')

const layout = { printWidth: 120 }
for (const [name, document] of [
  ['openapi.json', openapiDocument()],
  ['target.schema.json', targetSchema()],
]) {
  const path = fileURLToPath(new URL(`../schemas/${name}`, import.meta.url))
  const { code } = await format(path, JSON.stringify(document), layout)
  writeFileSync(path, code)
}
