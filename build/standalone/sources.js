// Prints a digest of the sources that lie here: what was made of the same ones need not be made again (action.yml).
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { madeSchemas } from '../schemas.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const made = ['node_modules', 'dist', 'standalone', '.git', ...madeSchemas]
const hash = createHash('sha256')

/** @param {string} folder below the root, with a slash at its end */
function add(folder) {
  const entries = readdirSync(root + folder, { withFileTypes: true })
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (made.includes(folder + entry.name)) continue
    if (entry.isDirectory()) add(`${folder}${entry.name}/`)
    else if (entry.isFile()) hash.update(`${folder}${entry.name}\0`).update(readFileSync(root + folder + entry.name))
  }
}

add('')
console.log(hash.digest('hex'))
