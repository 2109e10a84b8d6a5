/** Behind a real nginx, if it is installed, a service that keeps the interface passes; all that gateways say: `engine/gateway`. */
import { spawn } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startReference } from '../../reference/server.ts'
import { referenceTargetFile } from '../../schemas/validate.ts'
import { folder } from '../cli/conform.ts'
import { conform } from '../cli/in-process.ts'
import { freePort } from '../support/raw-server.ts'

const nginx = '/usr/sbin/nginx'

/** Starts it before the reference, until the test ends; its URL. */
async function startNginx(more: string): Promise<string> {
  const { url: service, close } = await startReference({ jobMs: 15, slowJobMs: 1200 })
  const dir = folder()
  const port = await freePort()
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${dir}/${name};`,
  )
  writeFileSync(
    `${dir}/nginx.conf`,
    `daemon off; master_process off; pid ${dir}/pid; error_log ${dir}/log; events {}
     http { access_log off; ${paths.join(' ')} ${more}
       server { listen 127.0.0.1:${port}; location / { proxy_pass ${service}; } } }`,
  )
  const child = spawn(nginx, ['-c', `${dir}/nginx.conf`, '-e', `${dir}/log`])
  onTestFinished(async () => void (child.kill(), await close()))
  await vi.waitFor(() => fetch(`http://127.0.0.1:${port}`), { timeout: 20_000 })
  return `http://127.0.0.1:${port}`
}

test.skipIf(!existsSync(nginx)).each([
  [
    'compresses and does not buffer',
    'gzip on; gzip_types application/json; proxy_buffering off;',
    /^exit 0: /m,
  ],
  ['closes after three requests', 'client_max_body_size 8m; keepalive_requests 3;', /^exit 0: /m],
  ['takes small bodies alone', 'client_max_body_size 1;', /larger than your gateway allows/],
])('a service behind an nginx that %s is judged', async (_, more, said) => {
  const args = '--only files.* --only translate.run/* --runs 2 --seed 1 --target'
  const { stdout } = await conform(`${await startNginx(more)} ${args} ${referenceTargetFile}`)
  expect(stdout).toMatch(said)
})
