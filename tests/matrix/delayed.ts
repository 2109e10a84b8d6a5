import { setTimeout as sleep } from 'node:timers/promises'
import { type Proxy, startProxy } from '../../bench/oracle-score/proxy.ts'

/** Stands before a server and passes each of its answers on so many ms late. */
export function delayed(url: string, ms: number): Promise<Proxy> {
  return startProxy(url, async (_, response) => {
    const answer = await response()
    await sleep(ms)
    return answer
  })
}
