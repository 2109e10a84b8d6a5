import { createRequire } from 'node:module'
import type { buildConnector as BuildConnector, Client as ClientClass, EnvHttpProxyAgent } from 'undici'

type Undici = typeof import('undici')

const require = createRequire(import.meta.url)

/**
 * One module of undici. Its entry loads fetch, WebSocket and caches too, which take four times as long to load as what
 * is needed of it. A release that lays its files out otherwise is loaded whole.
 */
function part<Name extends keyof Undici>(name: Name, file: string): Undici[Name] {
  try {
    return require(`undici/lib/${file}`) as Undici[Name]
  } catch {
    return (require('undici') as Undici)[name]
  }
}

export const Client: typeof ClientClass = part('Client', 'dispatcher/client.js')
export const buildConnector: typeof BuildConnector = part('buildConnector', 'core/connect.js')

/** Loaded for a target behind a proxy alone. */
export function createProxyAgent(options: EnvHttpProxyAgent.Options): EnvHttpProxyAgent {
  // The agent asks its clients for a tunnel, by a method that they get from the entry.
  const { EnvHttpProxyAgent: Agent } = require('undici') as Undici
  return new Agent(options)
}
