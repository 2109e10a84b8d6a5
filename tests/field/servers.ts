import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished } from 'vitest'
import { folder } from '../cli/conform.ts'
import type { Report } from '../../harness/report/report-schema.ts'
import { type ReferenceOptions, startReference } from '../../reference/server.ts'
import type { Ended } from '../cli/conform.ts'
import { conform } from '../cli/in-process.ts'
import { freePort, listenOn } from '../support/raw-server.ts'

/** Paths at which Debian's packages put them; undefined if one is not installed. */
const where = (name: string): string | undefined =>
  ['/usr/sbin/', '/usr/bin/', '/usr/local/sbin/']
    .map((dir) => dir + name)
    .find((path) => existsSync(path))

export const programs = {
  nginx: where('nginx'),
  haproxy: where('haproxy'),
  varnishd: where('varnishd'),
}
for (const [name, path] of Object.entries(programs))
  if (path === undefined)
    process.stderr.write(
      `SKIPPED: ${name} is not there; apt-get install nginx-light haproxy varnish\n`,
    )

export async function upstream(options: ReferenceOptions = {}): Promise<number> {
  const { url, close } = await startReference({ jobMs: 15, slowJobMs: 1200, ...options })
  onTestFinished(() => close())
  return Number(new URL(url).port)
}

const declared = JSON.parse(
  readFileSync(new URL('../../fixtures/reference.target.json', import.meta.url), 'utf8'),
) as {
  keys: { full: string }
}
export const fullKey = declared.keys.full

export const only = (...ids: readonly string[]): string[] => ids.flatMap((id) => ['--only', id])
export const twice = ['--runs', '2', '--seed', '1']
export const few = [...only('files.*', 'translate.run/*', 'envelope/*'), ...twice]

/** Folders with the reports of the last runs. */
const folders = new WeakMap<Ended, string>()

/** Judges a URL with the reference's target file, changed. */
export async function judge(
  url: string,
  change: object = {},
  args: readonly string[] = few,
  env: Record<string, string> = {},
): Promise<Ended> {
  const cwd = folder()
  writeFileSync(join(cwd, 'target.json'), JSON.stringify({ ...declared, ...change }))
  const ended = await conform([url, '--target', 'target.json', ...args], { env, cwd })
  folders.set(ended, cwd)
  return ended
}

export function reportOf(ended: Ended): Report {
  return JSON.parse(
    readFileSync(join(folders.get(ended)!, 'conform-report.json'), 'utf8'),
  ) as Report
}

export const lastLine = ({ stdout }: Ended): string => stdout.trimEnd().split('\n').at(-1) ?? ''

export const expectPassed = (ended: Ended, what = ''): void =>
  expect(lastLine(ended), `${what}${ended.stdout}`).toMatch(/^exit 0: no required check failed/)

export function expectNotJudged(ended: Ended, reason: RegExp): void {
  expect(ended.code, ended.stdout).toBe(3)
  expect(lastLine(ended)).toMatch(reason)
}

export const at = (port: number): string => `http://127.0.0.1:${port}`

/** A server of nginx before that port. */
export const proxied = (port: number, more = ''): string => {
  const size = more.includes('client_max_body_size') ? '' : 'client_max_body_size 8m;'
  return `server { listen 127.0.0.1:{port}; ${size} ${more} location / { proxy_pass http://127.0.0.1:${port}; proxy_http_version 1.1; proxy_set_header Connection ""; } }`
}

export const backend = (port: number): string => `backend service\n  server one 127.0.0.1:${port}`

async function started(child: ChildProcess, port: number): Promise<void> {
  let said = ''
  child.stderr?.on('data', (piece: Buffer) => (said += piece.toString()))
  onTestFinished(() => void child.kill('SIGTERM'))
  for (let tries = 0; tries < 200; tries++) {
    if (child.exitCode !== null) throw new Error(`it ended: ${said}`)
    if (await isOpen(port)) return
    await sleep(50)
  }
  throw new Error(`nothing listens on port ${port}: ${said}`)
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net
      .connect(port, '127.0.0.1', () => resolve(true))
      .on('error', () => resolve(false))
    socket.on('connect', () => socket.destroy())
  })
}

/** Starts nginx with what is in its `http` block, `{port}` filled in, until the test ends. */
export async function nginx(block: string): Promise<number> {
  const port = await freePort()
  const dir = folder()
  const config = join(dir, 'nginx.conf')
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${dir}/${name};`)
    .join(' ')
  writeFileSync(
    config,
    `daemon off; master_process off; pid ${dir}/pid; error_log ${dir}/error.log;
     events {} http { access_log off; ${temporary} ${block.replaceAll('{port}', String(port))} }`,
  )
  await started(
    spawn(programs.nginx!, ['-c', config, '-e', `${dir}/error.log`], {
      stdio: ['ignore', 'ignore', 'pipe'],
    }),
    port,
  )
  return port
}

/** Starts HAProxy before that backend, bound to `{port}` as said, until the test ends. */
export async function haproxy(service: string, bind = '{port}'): Promise<number> {
  const port = await freePort()
  const config = join(folder(), 'haproxy.cfg')
  const times = 'timeout connect 2s\n  timeout client 20s\n  timeout server 20s'
  const front = `frontend f\n  bind 127.0.0.1:${bind.replace('{port}', String(port))}\n  default_backend service\n`
  writeFileSync(config, `defaults\n  mode http\n  ${times}\n${front}${service}\n`)
  const stdio = ['ignore', 'ignore', 'pipe'] as ['ignore', 'ignore', 'pipe']
  await started(spawn(programs.haproxy!, ['-db', '-f', config], { stdio }), port)
  return port
}

/** Starts Varnish before that port, with more of its language, until the test ends. */
export async function varnish(to: number, more = ''): Promise<number> {
  const port = await freePort()
  const dir = folder()
  const file = join(dir, 'field.vcl')
  writeFileSync(file, `vcl 4.1; backend one { .host = "127.0.0.1"; .port = "${to}"; }\n${more}\n`)
  mkdirSync(join(dir, 'varnish'))
  const args = `-j none -F -a 127.0.0.1:${port} -f ${file} -n ${dir}/varnish`.split(' ')
  const stdio = ['ignore', 'ignore', 'pipe'] as ['ignore', 'ignore', 'pipe']
  await started(spawn(programs.varnishd!, args, { stdio }), port)
  return port
}

/** Makes an authority, and a certificate of it for 127.0.0.1 and for a client; gives the paths. */
export function certificates(): Readonly<Record<'ca' | 'cert' | 'key' | 'both', string>> {
  const dir = folder()
  const [ca, cert, key, both] = ['ca.pem', 'cert.pem', 'key.pem', 'both.pem'].map((name) =>
    join(dir, name),
  ) as [string, string, string, string]
  const openssl = (args: string): void =>
    void execFileSync('openssl', args.split(' '), { cwd: dir, stdio: 'ignore' })
  const ec = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes'
  openssl(`req -x509 ${ec} -keyout ca.key -out ${ca} -days 2 -subj /CN=authority`)
  openssl(`req ${ec} -keyout ${key} -out own.csr -subj /CN=127.0.0.1`)
  writeFileSync(join(dir, 'ext'), 'subjectAltName=IP:127.0.0.1')
  const signs = `-CA ${ca} -CAkey ca.key -CAcreateserial`
  openssl(`x509 -req -in own.csr ${signs} -days 2 -extfile ext -out ${cert}`)
  execFileSync('sh', ['-c', `cat ${cert} ${key} > ${both}`])
  return { ca, cert, key, both }
}

/** A forward proxy: http in absolute form, https by CONNECT; refuses what `refusal` names a status for. */
export async function forwardProxy(
  refusal: number | undefined,
  to: number,
): Promise<{ port: number; asked: string[] }> {
  const asked: string[] = []
  const server = http.createServer((incoming, outgoing) => {
    asked.push(`${incoming.method} ${incoming.url}`)
    if (refusal !== undefined) {
      outgoing.writeHead(refusal, { 'content-type': 'text/html', server: 'field-proxy' })
      return void outgoing.end(
        `<html><head><title>${refusal} of the proxy</title></head><address>proxy</address></html>`,
      )
    }
    const { pathname, search } = new URL(incoming.url!)
    const { method, headers } = incoming
    const options = { port: to, host: '127.0.0.1', method, path: pathname + search, headers }
    const onward = http.request(options, (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(outgoing)
    })
    onward.on('error', () => outgoing.destroy())
    incoming.pipe(onward)
  })
  server.on('connect', (incoming: http.IncomingMessage, socket: net.Socket) => {
    asked.push(`CONNECT ${incoming.url}`)
    if (refusal !== undefined) return void socket.end(`HTTP/1.1 ${refusal} No\r\n\r\n`)
    const onward = net.connect(to, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      socket.pipe(onward).pipe(socket)
    })
    for (const one of [socket, onward])
      one.on('error', () => [socket, onward].forEach((other) => other.destroy()))
  })
  const { port, close } = await listenOn(server)
  onTestFinished(() => close())
  return { port, asked }
}
