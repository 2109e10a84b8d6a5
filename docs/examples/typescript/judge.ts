/** Judges a server, prints each failure as it is found, then the verdict. */
import {
  defineTarget,
  type Failure,
  type Report,
  type Requirement,
  runConformance,
  UserError,
} from 'ai-content-conformance'
import { startReference } from 'ai-content-conformance/reference'

// Your own server goes here. This one breaks one requirement on purpose.
const server = await startReference({ defects: ['jobs.create/404-unknown-application'] })
const target = defineTarget({ ...server.target, name: 'My server' })

function show({ id, failures }: Requirement): void {
  const first: Failure | undefined = failures[0]
  console.log(`${id}: expected ${first?.expected}, received ${first?.actual}`)
}

async function judge(): Promise<Report> {
  const run = runConformance(target, {
    only: ['jobs.create/404-*'],
    signal: AbortSignal.timeout(60_000),
  })
  for await (const event of run) {
    if (event.kind === 'judged' && event.result.outcome === 'failed') show(event.result)
  }
  return run.report
}

try {
  const { verdict, run } = await judge()
  console.log(`${verdict}, ${run.requests} requests, seed ${run.seed}`)
} catch (error) {
  // A wrong target or option: one sentence.
  if (!(error instanceof UserError)) throw error
  console.error(error.message)
  process.exitCode = 2
} finally {
  await server.close()
}
