// npm run strangers: judges servers that do not know the suite, and writes docs/strangers.md. What they are made of comes from
// the package registry, into a temporary folder. `npm run strangers -- Prism` judges one, and prints the page.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readReport } from '../../harness/report/index.ts'
import { packageFile, referenceTargetFile } from '../../schemas/package-file.ts'
import { freePort } from '../../tests/support/raw-server.ts'
import { type Judged, strangersPage } from './page.ts'
import { openapiBackendServer, type Stranger, strangers } from './servers.ts'

const root = packageFile('.')
const dir = mkdtempSync(join(tmpdir(), 'conform-strangers-'))
const document = packageFile('schemas/openapi.json')
/** Longest time until a server answers, in ms: some of them compile the document first. */
const patienceMs = 120_000

try {
  const asked = process.argv.slice(2)
  const chosen = strangers.filter(({ name }) => asked.length === 0 || asked.includes(name))
  const judged: Judged[] = []
  for (const stranger of chosen) judged.push({ stranger, report: await judge(stranger) })
  const page = strangersPage(judged, new Date().toISOString().slice(0, 10))
  if (asked.length > 0) process.stdout.write(page)
  else {
    writeFileSync(packageFile('docs/strangers.md'), page)
    execFileSync('npx', ['--no-install', 'oxfmt', 'docs/strangers.md'], { cwd: root })
  }
} finally {
  rmSync(dir, { recursive: true, force: true })
}

async function judge(stranger: Stranger) {
  const { name, needs, start, target } = stranger
  const folder = join(dir, name.replaceAll('/', '-'))
  mkdirSync(folder)
  writeFileSync(join(folder, 'server.mjs'), openapiBackendServer)
  if (needs !== undefined) {
    writeFileSync(join(folder, 'package.json'), '{"private": true}')
    execFileSync(
      'npm',
      ['install', '--silent', '--no-audit', '--no-fund', '--ignore-scripts', needs],
      {
        cwd: folder,
        stdio: ['ignore', 'ignore', 'inherit'],
      },
    )
  }
  const port = await freePort()
  const file = target ?? targetOf(name, folder, port)
  const path = join(folder, 'report.json')
  const args = ['--target', file, '--depth', 'quick', '--seed', '421', '--report', `json=${path}`]
  const started = start && ['--start', start({ folder, document, port }), '--wait', `${patienceMs}`]
  const { stderr, stdout } = spawnSync(
    process.execPath,
    [packageFile('cli/bin/conform.js'), ...args, ...(started ?? [])],
    { cwd: root, encoding: 'utf8', env: { ...process.env, NO_COLOR: '1' } },
  )
  process.stderr.write(`${name}: ${stdout.trimEnd().split('\n').at(-1)}\n${stderr}`)
  return readReport(path).report
}

/** All that the reference has, but for the scenarios, which only the reference understands. */
function targetOf(name: string, folder: string, port: number): string {
  const file = join(folder, 'target.json')
  const {
    scenarios: _,
    $schema: _schema,
    ...rest
  } = JSON.parse(readFileSync(referenceTargetFile, 'utf8')) as Readonly<Record<string, unknown>>
  const text = JSON.stringify({ ...rest, name, baseUrl: `http://127.0.0.1:${port}` })
  // Files to upload stand beside the file of the reference.
  writeFileSync(file, text.replaceAll('"pdf/', `"${packageFile('fixtures/pdf')}/`))
  return file
}
