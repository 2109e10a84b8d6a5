import { onTestFinished } from 'vitest'
import { type Reference, type ReferenceOptions, startReference } from '../../reference/server.ts'

/** A reference server for the length of one test, its jobs quick. */
export async function reference(options: ReferenceOptions = {}): Promise<Reference> {
  const server = await startReference({ jobMs: 15, slowJobMs: 150, ...options })
  onTestFinished(() => server.close())
  return server
}
