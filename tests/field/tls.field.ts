import { describe, expect, test } from 'vitest'
import { start } from '../cli/conform.ts'
import {
  at,
  certificates,
  expectPassed,
  fullKey,
  judge,
  lastLine,
  nginx,
  programs,
  proxied,
  upstream,
} from './servers.ts'

describe.skipIf(programs.nginx === undefined)('TLS', () => {
  /** nginx with a certificate for 127.0.0.1, and what its server says besides. */
  async function secure(
    more = '',
    files = certificates(),
  ): Promise<[port: number, files: typeof files]> {
    const { cert, key } = files
    const tls = `ssl_certificate ${cert}; ssl_certificate_key ${key}; ${more}`
    return [await nginx(proxied(await upstream(), tls).replace('{port};', '{port} ssl;')), files]
  }

  test('each way in which it cannot be spoken has a sentence of its own', async () => {
    const [port, files] = await secure()
    const { ca } = files
    const others = certificates()
    const told = async (url: string, tls: object): Promise<string> => {
      const ended = await judge(url, { tls })
      expect(ended.code, ended.stdout).toBe(3)
      return lastLine(ended)
    }
    const url = `https://127.0.0.1:${port}`
    expect(await told(url, { ca: others.ca })).toMatch(
      /no authority in tls\.ca signed it: name the one that did/,
    )
    expect(await told(url, {})).toMatch(
      /name the authority that signed it in tls\.ca .*NODE_EXTRA_CA_CERTS/,
    )
    expect(await told(`https://localhost:${port}`, { ca })).toMatch(
      /; use one of its names in the base URL$/,
    )
    expect(await told(at(port), { ca })).toContain(
      `that port speaks TLS: write https://127.0.0.1:${port}`,
    )
    const [old] = await secure('ssl_protocols TLSv1; ssl_ciphers ALL:@SECLEVEL=0;', files)
    expect(await told(`https://127.0.0.1:${old}`, { ca })).toMatch(
      /; the suite speaks TLS 1\.2 and 1\.3/,
    )
    const [asking] = await secure(`ssl_client_certificate ${ca}; ssl_verify_client on;`, files)
    expect(
      await told(`https://127.0.0.1:${asking}`, { ca, cert: others.cert, key: others.key }),
    ).toMatch(/it does not accept the client certificate in tls\.cert of the target file/)
    const nameless = await nginx('server { listen 127.0.0.1:{port} ssl; ssl_reject_handshake on; }')
    expect(await told(`https://127.0.0.1:${nameless}`, { ca })).toMatch(
      /no certificate for that name/,
    )
    const plain = await nginx(proxied(await upstream()))
    expect(await told(`https://127.0.0.1:${plain}`, { ca })).toMatch(
      /that port does not speak TLS: .*\?$/,
    )
  })

  test('a certificate of an authority that NODE_EXTRA_CA_CERTS names is accepted', async () => {
    const [port, { ca }] = await secure()
    // Node reads it when it starts.
    const ended = await start([`https://127.0.0.1:${port}`, '--only', 'files.list/2xx-*'], {
      env: { CONFORM_API_KEY: fullKey, NODE_EXTRA_CA_CERTS: ca },
    }).ended
    expectPassed(ended)
  })
})
