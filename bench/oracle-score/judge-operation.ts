import type { OperationId } from '../../catalogue/operations.ts'
import type { HttpRequest, HttpResult } from '../../harness/http/message.ts'
import { idsOf, judgeReference } from '../../tests/matrix/judge-reference.ts'
import type { Given } from './alteration.ts'
import { Traffic } from './traffic.ts'

const nonce = 'orac'

/** What becomes of each request. */
export type Look = (given: Omit<Given, 'recorded'>) => Promise<HttpResult>

/** The rows that look at its answers: what a creation of a job said shows by the job. */
function judgedWith(operation: OperationId): string[] {
  return operation === 'jobs.create' ? ['jobs.*'] : [`${operation}/*`]
}

/** Judges one operation of the reference, in this process and in virtual time; gives the ids of the requirements that failed. */
export async function judgeOperation(operation: OperationId, look: Look): Promise<string[]> {
  const traffic = new Traffic(nonce)
  const { results } = await judgeReference(
    { jobMs: 15, slowJobMs: 1200 },
    {
      options: { only: [...judgedWith(operation), 'envelope/*'], skip: ['envelope/un*'], nonce },
      limits: { jobTimeoutMs: 4000 },
      road: (transport) => ({
        ...transport,
        send(request, options) {
          const asked = traffic.asked(request)
          const past = traffic.past(asked)
          const ask = async (other: HttpRequest = request): Promise<HttpResult> => {
            const result = await transport.send(other, options)
            if (result.kind === 'answer') traffic.learn({ ...asked, request: other }, result)
            return result
          }
          return look({ asked, past, ask })
        },
      }),
    },
  )
  return idsOf(results, 'failed')
}
