// The pipelines of docs/workflows, as they stand there: those for GitLab by a local runner of GitLab's jobs, those for GitHub
// by a small one here, which knows what they use and stands in for what others wrote. Asks the package registry.
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
import { gitHub } from './github-runner.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const dir = mkdtempSync(join(tmpdir(), 'conform-pipelines-'))
const at = (...names) => join(dir, ...names)
const quiet = { stdio: ['ignore', 'ignore', 'inherit'] }
/** That of staging is conforming; the other one breaks one requirement. Two runs at once against one would disturb each other. */
const startServers = async () => ({
  staging: await startReference(),
  production: await startReference({ defects: ['jobs.create/404-unknown-application#tpe'] }),
})
const servers = { github: await startServers(), gitlab: await startServers() }
const { key } = servers.github.staging

const hasRsync = !spawnSync('rsync', ['--version']).error
if (!hasRsync) console.log("SKIPPED: GitLab's pipelines are not run: gitlab-ci-local needs rsync")

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
  await Promise.all([
    npm('run', '--silent', 'standalone', '--', at('made')),
    // The last version that runs on Node.js 20.
    hasRsync && npm(...local, 'gitlab-ci-local@4.66.1'),
  ])
  quicken(at('made/conform.mjs'))
  programs()
  for (const [side, its] of Object.entries(servers)) project(at(side, 'project'), its)
  await Promise.all([onGitHub(), hasRsync && onGitLab()])
} finally {
  await Promise.all(
    Object.values(servers).flatMap((its) => Object.values(its).map(({ close }) => close())),
  )
  rmSync(dir, { recursive: true, force: true })
}

/** A user's repository, whose target files name no key. */
function project(folder, its) {
  mkdirSync(join(folder, 'conformance'), { recursive: true })
  for (const [name, { target }] of Object.entries(its)) {
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

/** The action, and programs that stand in for npm and GitHub's. */
function programs() {
  for (const name of ['tools', 'action']) mkdirSync(at(name))
  const conform = at('made/conform.mjs')
  // In the user's project npm installs the suite; for the action it makes the one file. Jobs of GitLab share a folder here: one
  // may run the command while another installs it, so that it comes by a new name.
  const npm = `#!/bin/bash
case "$*" in
  "ci --ignore-scripts") mkdir -p node_modules/.bin && cp ${conform} node_modules/.bin/$$ && mv -f node_modules/.bin/$$ node_modules/.bin/conform ;;
  "run --silent standalone --prefix "*) mkdir -p "$5/standalone" && cp ${conform} "$5/standalone/" && echo made >> ${at('made/log')} ;;
esac`
  writeFileSync(at('tools/npm'), npm, { mode: 0o755 })
  writeFileSync(at('tools/gh'), `#!/bin/bash\ncp ${conform} .\n`, { mode: 0o755 })
  for (const name of ['action.yml', 'build', 'package.json'])
    cpSync(join(root, name), at('action', name), { recursive: true })
}

function workflow(name) {
  return parse(readFileSync(join(root, 'docs/workflows', name), 'utf8'))
}

async function onGitHub() {
  const secrets = { CONFORM_API_KEY: key, STAGING_API_KEY: key, PRODUCTION_API_KEY: key }
  const runner = gitHub({
    dir: at('github'),
    project: at('github/project'),
    action: at('action'),
    tools: at('tools'),
    secrets,
  })

  const nightly = await runner(workflow('conformance.yml'))
  assert.equal(nightly.result, 'success', nightly.said)
  assert.equal(verdictIn(join(nightly.artifacts, 'conformance')), 'conformant')

  const sharded = await runner(workflow('sharded.yml'))
  assert.equal(sharded.result, 'success', sharded.said)
  assert.equal(verdictIn(join(sharded.artifacts, 'conformance')), 'conformant')
  assert.match(sharded.summary, /Conformance of /)

  const matrix = await runner(workflow('matrix.yml'))
  assert.equal(matrix.result, 'failure', 'production breaks a requirement')
  assert.ok(existsSync(join(matrix.artifacts, 'comparison/compare.html')), matrix.said)
  assert.match(matrix.summary, /jobs\.create\/404-unknown-application/)

  // Six judgings, and one making: the rest had it from the cache.
  assert.equal(readFileSync(at('made/log'), 'utf8'), 'made\n')
  assert.ok(
    ![nightly, sharded, matrix].some(({ said, summary }) => `${said}${summary}`.includes(key)),
    'no key is shown',
  )
  console.log(
    'conformance.yml, sharded.yml and matrix.yml judge as their pages say, on stand-ins for the runner of GitHub',
  )
}

async function onGitLab() {
  const nightly = await gitLab('gitlab-ci.yml')
  assert.equal(nightly.code, 0, nightly.said)
  assert.equal(verdictIn(nightly.artifact('conformance')), 'conformant')

  const sharded = await gitLab('gitlab-sharded.yml')
  assert.equal(sharded.code, 0, sharded.said)
  assert.equal(verdictIn(sharded.artifact('merge')), 'conformant')

  const matrix = await gitLab('gitlab-matrix.yml')
  assert.equal(matrix.code, 1, 'production breaks a requirement')
  assert.match(matrix.said, /1 must is newly failing|jobs\.create\/404-unknown-application/)
  assert.ok(existsSync(join(matrix.artifact('compare'), 'compare.html')), matrix.said)
  console.log(
    'gitlab-ci.yml, gitlab-sharded.yml and gitlab-matrix.yml judge as their pages say, by gitlab-ci-local',
  )
}

async function gitLab(file) {
  const cwd = at('gitlab', file.replace('.yml', ''))
  cpSync(at('gitlab/project'), cwd, { recursive: true })
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
  return { code, said, artifact }
}

function verdictIn(folder) {
  return JSON.parse(readFileSync(join(folder, 'conform-report.json'), 'utf8')).verdict
}
