// Tries the packed package in an empty vitest project: a filter, a whole run with reports, a run in two shards. Needs
// the package registry. CONFORM_PACKED: a folder with the tarball; without it, the package is packed here.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const { version } = JSON.parse(readFileSync(join(root, 'node_modules/vitest/package.json'), 'utf8'))
const dir = mkdtempSync(join(tmpdir(), 'conform-packed-'))
const quiet = { cwd: dir, stdio: ['ignore', 'ignore', 'inherit'] }

const suite = (options) => `import { describeConformance } from 'ai-content-conformance/vitest'
import { startReference } from 'ai-content-conformance/reference'
const { target } = await startReference({ defects: ['jobs.create/404-unknown-application'] })
describeConformance(target, { depth: 'quick', ${options} })
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
  writeFileSync(join(dir, 'vitest.config.ts'), config)
  const packed = readdirSync(from).find((name) => name.endsWith('.tgz'))
  const packages = [join(from, packed), `vitest@${version}`]
  const flags = ['--silent', '--no-audit', '--no-fund', '--ignore-scripts']
  execFileSync('npm', ['install', ...flags, ...packages], quiet)

  writeFileSync(join(dir, 'conformance.test.ts'), suite(''))
  const one = vitest('run', '-t', 'files.list/2xx-accepted ')
  assert.equal(one.status, 0, one.said)
  assert.match(one.said, /✓ .*files\.list\/2xx-accepted /)
  assert.match(one.said, /1 passed \| \d+ skipped/)

  const whole = vitest('run')
  assert.equal(whole.status, 1, whole.said)
  for (const label of ['sent', 'expected', 'received', 'curl'])
    assert.match(whole.said, new RegExp(`^${label} `, 'm'))
  const { summary } = JSON.parse(readFileSync(join(dir, 'conform-report.json'), 'utf8'))
  assert.equal(summary.must.failed, 1)
  for (const end of ['html', 'xml', 'ctrf.json', 'md', 'har', 'svg'])
    assert.ok(existsSync(join(dir, `conform-report.${end}`)))

  rmSync(join(dir, 'conformance.test.ts'))
  writeFileSync(join(dir, 'jobs.test.ts'), suite(`only: ['jobs.*']`))
  writeFileSync(join(dir, 'others.test.ts'), suite(`skip: ['jobs.*']`))
  const parts = ['1/2', '2/2'].map((part) => vitest('run', `--shard=${part}`, '--reporter=blob'))
  assert.deepEqual(parts.map(({ status }) => status).sort(), [0, 1], parts[0].said)
  const merged = vitest('--merge-reports', '--reporter=default')
  assert.equal(merged.status, 1, merged.said)
  assert.match(merged.said, /Test Files .*1 failed \| 1 passed/)
  assert.match(merged.said, /Tests .*1 failed/)
  console.log(merged.said.match(/^ *Tests .*$/m)[0].trim())
} finally {
  rmSync(dir, { recursive: true, force: true })
}

function vitest(...args) {
  const env = { ...process.env, NO_COLOR: '1', CI: '1' }
  const options = { cwd: dir, encoding: 'utf8', env }
  const { status, stdout, stderr } = spawnSync('npx', ['--no-install', 'vitest', ...args], options)
  return { status, said: stdout + stderr }
}
