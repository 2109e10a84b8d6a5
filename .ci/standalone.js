// What needs no npm project judges the embedded reference: conform.mjs and the container. Each from an
// empty folder, with nothing installed beside it. Asks the package registry for the linter of the Dockerfile.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const dir = mkdtempSync(join(tmpdir(), 'conform-standalone-'))
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
/** Nothing of the settings here, nor of this checkout, is seen. */
const env = { PATH: process.env.PATH, HOME: dir, TMPDIR: dir, NO_COLOR: '1' }

const target = `import { defineTarget, fromNodeListener } from 'ai-content-conformance'
const name: string = typeof fromNodeListener
export default defineTarget({ name, baseUrl: 'http://127.0.0.1:9', keys: { full: 'a-key-of-no-target' } })
`

try {
  chmodSync(dir, 0o755)
  execFileSync('npm', ['run', '--silent', 'standalone', '--', dir], {
    cwd: root,
    stdio: 'inherit',
  })
  const file = join(dir, 'conform.mjs')
  assert.ok(statSync(file).size < 4e6, `${statSync(file).size} bytes`)
  startsAtOnce(file)
  await judges(file)
  await container(file)
} finally {
  rmSync(dir, { recursive: true, force: true })
}

/** Unpacks nothing to say its version: Node.js tells which modules it loaded. */
function startsAtOnce(file) {
  const loads = (...args) => {
    const NODE_V8_COVERAGE = join(dir, 'loaded', args.join())
    const { stdout } = spawnSync(process.execPath, [file, ...args], {
      env: { ...env, NODE_V8_COVERAGE },
      encoding: 'utf8',
    })
    const [told] = readdirSync(NODE_V8_COVERAGE)
    const { result } = JSON.parse(readFileSync(join(NODE_V8_COVERAGE, told), 'utf8'))
    return { stdout, own: result.filter(({ url }) => url.includes('conform.mjs')).length }
  }
  assert.deepEqual(
    loads('--version'),
    { stdout: `${version}\n`, own: 1 },
    'it loads more than it needs to',
  )
  assert.ok(loads('list').own > 1, 'what is loaded is seen')
}

/** By quick runs: it is the code that judges in full elsewhere, in another file. */
async function judges(file) {
  const cwd = join(dir, 'a project')
  mkdirSync(cwd)
  writeFileSync(join(cwd, 'target.ts'), target)
  writeFileSync(join(cwd, 'target.mjs'), target.replace(': string', ''))
  const run = (...given) =>
    spawnSync(process.execPath, [file, ...given], { cwd, env, encoding: 'utf8' })

  const whole = run('--report', 'json', '--depth', 'quick')
  assert.equal(whole.status, 0, `${whole.stdout.slice(-2000)}${whole.stderr}`)
  assert.equal(
    JSON.parse(readFileSync(join(cwd, 'conform-report.json'), 'utf8')).verdict,
    'conformant',
  )
  for (const name of ['target.ts', 'target.mjs']) {
    const { stdout, stderr } = run('--target', name, '--dry-run')
    assert.match(stdout, /^total /m, `${name}: ${stderr}`)
    assert.equal(stderr, '')
  }
  console.log(`conform.mjs: ${whole.stdout.trim().split('\n').at(-2)}`)
}

async function container(file) {
  const text = readFileSync(join(root, 'Dockerfile'), 'utf8')
  lint('Dockerfile', true)
  writeFileSync(join(dir, 'Dockerfile'), text.replace(/^USER .*$/m, 'USER root'))
  lint(join(dir, 'Dockerfile'), false)
  if (spawnSync('docker', ['info']).status === 0) return image()
  console.log(
    'No Docker daemon answers here: the image is NOT built. Its entry point judges as another user instead.',
  )
  const last = text.slice(text.lastIndexOf('\nFROM '))
  const [, to] = /^COPY --from=build \/suite\/standalone\/conform\.mjs (\S+)$/m.exec(last)
  const [command, ...args] = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(last)[1])
  assert.equal(command, 'node')
  assert.deepEqual(args, [to])
  const isRoot = process.getuid?.() === 0
  const nobody = isRoot ? { uid: 65534, gid: 65534 } : {}
  const more = ['--runs', '1', '--depth', 'quick']
  const { status, stdout, stderr } = spawnSync(process.execPath, [file, ...more], {
    ...nobody,
    cwd: '/',
    env,
    encoding: 'utf8',
  })
  assert.equal(status, 0, `${stdout}${stderr}`)
  console.log(
    `as ${isRoot ? 'user 65534' : 'this user'}, in a folder that it cannot write to: ${stdout.trim().split('\n').at(-2)}`,
  )
}

/** By the rules of hadolint, which itself is in no registry that is asked here. */
function lint(path, isClean) {
  const linter = ['exec', '--yes', '--ignore-scripts', '--', 'dockerlinter@2.0.0']
  const { status, stdout, stderr } = spawnSync(
    'npm',
    [...linter, '-f', path, '-s', 'none', '-e', 'info'],
    {
      cwd: root,
      encoding: 'utf8',
    },
  )
  if (isClean) assert.equal(status, 0, `${stdout}${stderr}`)
  else assert.match(stdout, /EU0001/)
}

function image() {
  const docker = (...args) => execFileSync('docker', args, { cwd: root, encoding: 'utf8' })
  docker('build', '--quiet', '--tag', 'conform-ci', '.')
  const shown = JSON.parse(docker('image', 'inspect', 'conform-ci'))[0]
  assert.equal(shown.Config.User, 'node')
  const said = docker('run', '--rm', '--read-only', '--tmpfs', '/tmp', 'conform-ci')
  assert.match(said, /^Conformant: /m)
  console.log(`the image of ${Math.round(shown.Size / 1e6)} MB: ${said.trim().split('\n').at(-2)}`)
}
