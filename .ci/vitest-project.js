// The package as it is packed, in an empty vitest project: filters, reasons, failures, reports, and vitest's UI in a browser.
// Asks the package registry. With a path as argument, a screenshot of the UI is written there. CONFORM_PACKED: a folder that holds
// the tarball; without it the package is packed here.
import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'

const root = fileURLToPath(new URL('..', import.meta.url))
const screenshot = process.argv[2] && resolve(process.argv[2])
const executablePath = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find(existsSync)
const { version } = JSON.parse(readFileSync(join(root, 'node_modules/vitest/package.json'), 'utf8'))
const dir = mkdtempSync(join(tmpdir(), 'conform-packed-'))
const quiet = { cwd: dir, stdio: ['ignore', 'ignore', 'inherit'] }

/** Breaks one requirement, and declares no second application. */
const suite = `import { describeConformance } from 'ai-content-conformance/vitest'
import { startReference } from 'ai-content-conformance/reference'
const { target } = await startReference({ defects: ['jobs.create/404-unknown-application'] })
const { otherApplication: _, ...resources } = target.resources
describeConformance({ ...target, resources }, { depth: 'quick' })
`
const config = `import ConformanceReporter from 'ai-content-conformance/vitest/reporter'
import { defineConfig } from 'vitest/config'
const reports = ['json', 'html', 'junit', 'ctrf', 'markdown', 'har', 'badge']
export default defineConfig({ test: { reporters: ['verbose', new ConformanceReporter({ reports })] } })
`

try {
  const from = process.env.CONFORM_PACKED ?? dir
  if (from === dir)
    execFileSync('npm', ['pack', '--silent', '--pack-destination', dir], { ...quiet, cwd: root })
  writeFileSync(join(dir, 'package.json'), '{"private": true, "type": "module"}')
  writeFileSync(join(dir, 'conformance.test.ts'), suite)
  writeFileSync(join(dir, 'vitest.config.ts'), config)
  const packed = readdirSync(from).find((name) => name.endsWith('.tgz'))
  const packages = [join(from, packed), `vitest@${version}`, `@vitest/ui@${version}`]
  execFileSync(
    'npm',
    ['install', '--silent', '--no-audit', '--no-fund', '--ignore-scripts', ...packages],
    quiet,
  )
  filters()
  whole()
  for (const name of ['conform-report.json', 'conform-report.part.json'])
    rmSync(join(dir, name), { force: true })
  await inTheBrowser()
} finally {
  rmSync(dir, { recursive: true, force: true })
}

/** @param {string} text @param {RegExp} words */
function says(text, words) {
  assert.ok(words.test(text), `${words} in:\n${text.slice(-3000)}`)
}

/** @param {string[]} args */
function vitest(...args) {
  const env = { ...process.env, NO_COLOR: '1', CI: '1' }
  return spawnSync('npx', ['--no-install', 'vitest', 'run', ...args], {
    cwd: dir,
    encoding: 'utf8',
    env,
  })
}

function filters() {
  const { status, stdout } = vitest('-t', 'files.list/2xx-accepted ')
  assert.equal(status, 0, stdout.slice(-2000))
  says(stdout, /✓ .*files\.list\/2xx-accepted /)
  says(stdout, /1 passed \| \d+ skipped/)
  const { run } = reported('conform-report.part.json')
  assert.ok(run.requests < 4, `${run.requests} requests for one requirement`)
  console.log(`-t of one requirement: ${run.requests} requests`)
}

function whole() {
  const { status, stdout, stderr } = vitest()
  assert.equal(status, 1, stdout.slice(-2000))
  says(stdout, /↓ .*jobs\.create\/409-per-application .*\[.*otherApplication/)
  for (const row of [
    /^sent {6}POST /m,
    /^expected {2}404 /m,
    /^received {2}/m,
    /^again {5}conform /m,
    /^curl {6}curl /m,
  ])
    says(stderr, row)
  const { summary, verdict } = reported()
  assert.equal(verdict, 'non-conformant')
  assert.equal(summary.must.failed, 1)
  for (const end of ['html', 'xml', 'ctrf.json', 'md', 'har', 'svg'])
    assert.ok(existsSync(join(dir, `conform-report.${end}`)))
  console.log(`a whole run: ${stdout.match(/^ *Tests .*$/m)?.[0].trim()}`)
}

async function inTheBrowser() {
  if (executablePath === undefined)
    return console.log("SKIPPED: vitest's UI is not looked at, there is no Chromium")
  const args = ['--no-install', 'vitest', '--watch', '--ui', '--open=false', '--api.port=0']
  const ui = spawn('npx', args, {
    cwd: dir,
    env: { ...process.env, NO_COLOR: '1' },
    detached: true,
  })
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
    await page.goto(await addressOf(ui))
    const failed = page.getByText('jobs.create/404-unknown-application').first()
    await page.getByText('Fail (1)', { exact: false }).first().waitFor({ timeout: 120_000 })
    await page.getByRole('checkbox', { name: 'Fail' }).first().check({ force: true })
    await page.getByPlaceholder('Search...').first().fill('404-unknown-application')
    await failed.click({ timeout: 60_000 })
    await page.getByText('ConformanceError').first().waitFor()
    const text = await page.locator('body').innerText()
    for (const row of [
      /sent\s+POST /,
      /expected\s+404 ResourceNotFound/,
      /received\s+/,
      /curl\s+curl /,
    ])
      says(text, row)
    await until(() => existsSync(join(dir, 'conform-report.json')))
    await page.getByRole('button', { name: 'Run current test' }).first().click({ force: true })
    await until(() => existsSync(join(dir, 'conform-report.part.json')))
    const { run } = reported('conform-report.part.json')
    assert.equal(run.only.join(), 'jobs.create/404-unknown-application')
    console.log(
      `vitest's UI shows the failure with its evidence; run again alone: ${run.requests} requests`,
    )
  } finally {
    if (screenshot) await browser.contexts()[0]?.pages()[0]?.screenshot({ path: screenshot })
    await browser.close()
    if (ui.exitCode === null) process.kill(-Number(ui.pid), 'SIGTERM')
  }
}

function reported(name = 'conform-report.json') {
  return JSON.parse(readFileSync(join(dir, name), 'utf8'))
}

/** @param {() => boolean} holds */
async function until(holds) {
  for (let tries = 0; !holds(); tries++) {
    assert.ok(tries < 600, 'it did not come about within a minute')
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** @param {import('node:child_process').ChildProcess} ui */
function addressOf(ui) {
  return new Promise((resolve, reject) => {
    let said = ''
    ui.on('close', () => reject(new Error(said)))
    for (const stream of [ui.stdout, ui.stderr])
      stream.on('data', (piece) => {
        said += piece
        const address = said.match(/http:\/\/localhost:\d+\/__vitest__\/\S*/)?.[0]
        if (address) resolve(address)
      })
  })
}
