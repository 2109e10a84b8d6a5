import type { FailureExchange } from '../report/model.ts'
import type { Run } from './run.ts'

/** The exchange as a failure shows it: its curl line says so if the run removes at its end what the request names. */
export function repeatable({ objects, target }: Run, recorded: FailureExchange): FailureExchange {
  const { body, url } = recorded.request
  const gone = objects.created.find(({ id, operation }) => {
    const cleanup = Object.hasOwn(target.operations, operation)
      ? target.operations[operation as keyof typeof target.operations]?.cleanup
      : undefined
    return cleanup !== undefined && cleanup.length > 0 && (url.includes(id) || body.includes(id))
  })
  if (!gone) return recorded
  const why = `# ${gone.operation} made ${gone.id} for this run, whose clean-up removed it: the line above makes another`
  return { ...recorded, curl: `${recorded.curl}  ${why}` }
}
