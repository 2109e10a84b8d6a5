// npm run openapi: writes schemas/openapi.json from the catalogue and the other schemas.
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createJiti } from 'jiti'
import { format, resolveConfig } from 'prettier'

const path = fileURLToPath(new URL('../schemas/openapi.json', import.meta.url))
const { openapiDocument } = await createJiti(import.meta.url).import('./openapi/document.ts')
const options = { ...(await resolveConfig(path)), parser: 'json' }
writeFileSync(path, await format(JSON.stringify(openapiDocument()), options))
