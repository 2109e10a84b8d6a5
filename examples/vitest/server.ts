import { startReference } from 'ai-content-conformance/reference'
import type {} from 'ai-content-conformance/vitest'
import type { TestProject } from 'vitest/node'

/** Starts what is judged, and tells the tests of it. Your own server goes here. */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const server = await startReference()
  provide('conformTarget', server.target)
  return () => server.close()
}
