import { onTestFinished } from 'vitest'
import { startReference } from '../../reference/server.ts'

/** A reference server for the length of one test, its jobs quick. */
export async function reference(options: Parameters<typeof startReference>[0] = {}) {
  const server = await startReference({ jobMs: 15, slowJobMs: 150, ...options })
  onTestFinished(() => server.close())
  return server
}
