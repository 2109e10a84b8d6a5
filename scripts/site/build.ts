// npm run site: writes the documents as a static site into site/, with a page for each requirement, and search, for any web
// server. `npm run site -- --sources` writes only what the site is made of. If package.json names its address as
// `homepage`, reports link to it. The packages that make the site are installed on the first call: docs/site/package.json.
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { catalogue } from '../../catalogue/catalogue.ts'
import { sentFor } from '../../cli/explain/sent.ts'
import { packageFile } from '../../schemas/package-file.ts'
import { examplesOf } from './exchanges.ts'
import { siteSources } from './sources.ts'

const project = packageFile('docs/site')
const sources = join(project, 'src')
/** Longest wait for what is sent, in ms: a whole run of the reference takes some ten seconds. */
const patienceMs = 300_000
const sent = await sentFor(catalogue, patienceMs)
const files = siteSources(sent, await examplesOf())

rmSync(sources, { recursive: true, force: true })
for (const [path, text] of files) {
  mkdirSync(dirname(join(sources, path)), { recursive: true })
  writeFileSync(join(sources, path), text)
}
cpSync(packageFile('docs/pictures'), join(sources, 'docs/pictures'), { recursive: true })
console.log(`${files.size} files in ${sources}`)

if (!process.argv.includes('--sources')) {
  const npm = (...args: string[]): void =>
    void execFileSync('npm', args, { cwd: project, stdio: ['ignore', 'ignore', 'inherit'] })
  if (!existsSync(join(project, 'node_modules/vitepress')))
    npm('ci', '--silent', '--ignore-scripts')
  npm('run', '--silent', 'build')
  console.log(`the site is in ${packageFile('site')}; npm run preview --prefix docs/site shows it`)
}
