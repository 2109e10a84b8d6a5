import { describeConformance } from 'ai-content-conformance/vitest'
import { afterAll } from 'vitest'
import { start } from './server.ts'

// In watch mode the server is judged again when it changes, because this file imports it.
let server: Awaited<ReturnType<typeof start>>
describeConformance(async () => {
  server = await start()
  return server.target
})
afterAll(() => server.close())
