// The pipelines of docs/workflows, as they stand there: those for GitLab by a local runner of GitLab's jobs; of those for GitHub
// what they do with the reports. That they are well formed and give the action what it takes: tests/gates/action.program.ts.
// Asks the package registry.
import assert from 'node:assert/strict'
import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { parse } from 'yaml'
import { startReference } from '../dist/reference.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const dir = mkdtempSync(join(tmpdir(), 'conform-pipelines-'))
const at = (...names) => join(dir, ...names)
const quiet = { stdio: ['ignore', 'ignore', 'inherit'] }
/** That of staging is conforming; the other one breaks one requirement. */
const servers = {
  staging: await startReference(),
  production: await startReference({ defects: ['jobs.create/404-unknown-application#tpe'] }),
}
const { key } = servers.staging

const hasRsync = !spawnSync('rsync', ['--version']).error
if (!hasRsync) console.log('SKIPPED: the pipelines are not run: gitlab-ci-local needs rsync')

try {
  // Never in the way of the servers, which answer in this process.
  const npm = (...args) => promisify(execFile)('npm', args, { cwd: root })
  const local = [
    'install',
    '--silent',
    '--no-audit',
    '--no-fund',
    '--ignore-scripts',
    '--prefix',
    at('gitlab'),
  ]
  // The last version that runs on Node.js 20.
  await Promise.all([
    npm('run', '--silent', 'standalone', '--', at('made')),
    hasRsync && npm(...local, 'gitlab-ci-local@4.66.1'),
  ])
  quicken(at('made/conform.mjs'))
  standIn()
  project(at('project'))
  if (hasRsync) await judge()
} finally {
  await Promise.all(Object.values(servers).map(({ close }) => close()))
  rmSync(dir, { recursive: true, force: true })
}

/** A user's repository, whose target files name no key. */
function project(folder) {
  mkdirSync(join(folder, 'conformance'), { recursive: true })
  for (const [name, { target }] of Object.entries(servers)) {
    const keys = { ...target.keys, full: { env: 'CONFORM_API_KEY' } }
    writeFileSync(join(folder, 'conformance', `${name}.json`), JSON.stringify({ ...target, keys }))
  }
  writeFileSync(join(folder, 'conformance/baseline.json'), '{"expected": []}')
  writeFileSync(join(folder, '.gitignore'), 'node_modules\n')
}

/** A pipeline does the same with a quick run as with a full one: whoever says no command asks for one here. */
function quicken(file) {
  const [first, ...rest] = readFileSync(file, 'utf8').split('\n')
  const asked =
    "if (!/^[a-z]/.test(process.argv[2] ?? '')) process.argv.splice(2, 0, '--depth', 'quick')"
  writeFileSync(file, [first, asked, ...rest].join('\n'))
}

/** A program that stands in for npm: it installs the one file in the user's project. */
function standIn() {
  mkdirSync(at('tools'))
  const conform = at('made/conform.mjs')
  // Jobs of GitLab share a folder here: one may run the command while another installs it, so that it comes by a new name.
  const npm = `#!/bin/bash
mkdir -p node_modules/.bin && cp ${conform} node_modules/.bin/$$ && mv -f node_modules/.bin/$$ node_modules/.bin/conform`
  writeFileSync(at('tools/npm'), npm, { mode: 0o755 })
}

async function judge() {
  const nightly = await gitLab('gitlab-ci.yml')
  assert.equal(nightly.code, 0, nightly.said)
  assert.equal(verdictIn(nightly.artifact('conformance')), 'conformant')

  const matrix = await gitLab('gitlab-matrix.yml')
  assert.equal(matrix.code, 1, 'production breaks a requirement')
  assert.match(matrix.said, /1 must is newly failing|jobs\.create\/404-unknown-application/)
  assert.ok(existsSync(join(matrix.artifact('compare'), 'compare.html')), matrix.said)
  assert.match(stepsOfGitHub('matrix.yml', matrix.cwd), /jobs\.create\/404-unknown-application/)
  console.log('the pipelines for GitLab judge as their pages say, by gitlab-ci-local')
}

/** Runs what a workflow of GitHub does with the reports of other jobs, on those of GitLab's; gives the summary of the job. */
function stepsOfGitHub(name, cwd) {
  const { jobs } = parse(readFileSync(join(root, 'docs/workflows', name), 'utf8'))
  const lines = Object.values(jobs)
    .flatMap(({ steps }) => steps)
    .flatMap(({ run = '' }) => (run.startsWith('node conform.mjs') ? [run] : []))
  assert.equal(lines.length, 1, `${name} calls the command once`)
  const summary = join(cwd, 'summary.md')
  cpSync(at('made/conform.mjs'), join(cwd, 'conform.mjs'))
  const env = { PATH: process.env.PATH, HOME: dir, GITHUB_STEP_SUMMARY: summary }
  execFileSync('bash', ['-e', '-c', lines[0]], { cwd, env, ...quiet })
  return readFileSync(summary, 'utf8')
}

async function gitLab(file) {
  const cwd = at('gitlab', file.replace('.yml', ''))
  cpSync(at('project'), cwd, { recursive: true })
  cpSync(join(root, 'docs/workflows', file), join(cwd, '.gitlab-ci.yml'))
  const git = (...args) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@localhost', ...args], {
      cwd,
      ...quiet,
    })
  git('init', '--quiet')
  git('add', '.')
  git('commit', '--quiet', '--message', 'A project')
  const variables = { CI_PIPELINE_SOURCE: 'schedule', CONFORM_API_KEY: key }
  const given = Object.entries(variables).flatMap(([name, value]) => [
    '--variable',
    `${name}=${value}`,
  ])
  const runner = at('gitlab/node_modules/.bin/gitlab-ci-local')
  const env = { PATH: `${at('tools')}:${process.env.PATH}`, HOME: dir, NO_COLOR: '1' }
  const child = spawn(process.execPath, [runner, '--force-shell-executor', ...given], { cwd, env })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (piece) => (said += piece))
  const [code] = await once(child, 'close')
  const artifacts = join(cwd, '.gitlab-ci-local/artifacts')
  const artifact = (job) =>
    join(artifacts, readdirSync(artifacts).find((name) => name.startsWith(job)) ?? job)
  return { code, cwd, said, artifact }
}

function verdictIn(folder) {
  return JSON.parse(readFileSync(join(folder, 'conform-report.json'), 'utf8')).verdict
}
