// npm run site: writes the documents as a static site into site/, with a page for each requirement, and search. Any web server can
// show it, and a browser opens it from the folder. If package.json names its address as `homepage`, reports link to it.
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createJiti } from 'jiti'

const root = fileURLToPath(new URL('../..', import.meta.url))
const dir = join(root, 'site')
/** Longest wait for what is sent, in ms: a whole run of the reference takes some ten seconds. */
const patienceMs = 300_000

const { import: load } = createJiti(import.meta.url)
const { catalogue } = await load('../../catalogue/catalogue.ts')
const { sentFor } = await load('../../cli/explain/explanation.ts')
const { siteFiles } = await load('./pages.ts')
const files = siteFiles(await sentFor(catalogue, patienceMs))

rmSync(dir, { recursive: true, force: true })
for (const [path, text] of files) {
  mkdirSync(dirname(join(dir, path)), { recursive: true })
  writeFileSync(join(dir, path), text)
}
const pictures = 'docs/pictures'
if (existsSync(join(root, pictures))) cpSync(join(root, pictures), join(dir, pictures), { recursive: true })
console.log(`${files.size} files in ${dir}; open ${join(dir, 'index.html')}`)
