import type { OperationId } from '../../catalogue/operations.ts'
import { startReference } from '../../reference/server.ts'
import { idsOf, judgeUrl } from '../../tests/matrix/judge-reference.ts'
import { Signatures } from './asked.ts'
import { type ProxiedRequest, type ProxiedResponse, startProxy } from './proxy.ts'

const nonce = 'orac'

/** What is seen of each response, and given back in its place. */
export type Look = (signature: string, request: ProxiedRequest, response: ProxiedResponse) => ProxiedResponse

/** Judges one operation of the reference behind a proxy; gives the ids of the requirements that failed. */
export async function judgeOperation(operation: OperationId, look: Look): Promise<string[]> {
  const reference = await startReference({ jobMs: 15, slowJobMs: 120 })
  const signatures = new Signatures(nonce)
  const proxy = await startProxy(reference.url, async (request, ask) => {
    const signature = signatures.of(request)
    const response = await ask()
    signatures.learn(response)
    return look(signature, request, response)
  })
  try {
    const { results } = await judgeUrl(proxy.url, {
      options: { only: [`${operation}/*`, 'envelope/*'], skip: ['envelope/un*'], nonce },
      limits: { jobTimeoutMs: 2000 },
    })
    return idsOf(results, 'failed')
  } finally {
    await proxy.close()
    await reference.close()
  }
}
