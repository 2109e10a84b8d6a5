import { writeSchemas } from '../scripts/schemas.js'

const scripts = new URL('../scripts/', import.meta.url)

/** Writes the documents that are derived from sources: the package has them, the repository does not. */
export default () => writeSchemas((module) => import(new URL(module, scripts).href))
