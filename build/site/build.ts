// npm run site: writes the documents as a static site into site/, with a page for each requirement, and search. Any web server can
// show it, and a browser opens it from the folder. If package.json names its address as `homepage`, reports link to it.
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { catalogue } from '../../catalogue/catalogue.ts'
import { sentFor } from '../../cli/explain/explanation.ts'
import { packageFile } from '../../schemas/package-file.ts'
import { siteFiles } from './pages.ts'

const dir = packageFile('site')
/** Longest wait for what is sent, in ms: a whole run of the reference takes some ten seconds. */
const patienceMs = 300_000
const files = siteFiles(await sentFor(catalogue, patienceMs))

rmSync(dir, { recursive: true, force: true })
for (const [path, text] of files) {
  mkdirSync(dirname(join(dir, path)), { recursive: true })
  writeFileSync(join(dir, path), text)
}
cpSync(packageFile('docs/pictures'), join(dir, 'docs/pictures'), { recursive: true })
console.log(`${files.size} files in ${dir}; open ${join(dir, 'index.html')}`)
