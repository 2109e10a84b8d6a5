import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { file, measureConform, measureRun, type MeasuredRun, serve, targetAt } from './conform.ts'
import { delayBefore, playBack, type Recorded, recordBefore } from './recorded-traffic.ts'
import { type Measured, measureProcess } from './measure-process.ts'

/** Figures of one measuring, by name: ms, MB, requests. */
export type Figures = Readonly<Record<string, number>>

/** One thing that is measured, again and again. */
export interface Side {
  readonly name: string
  /** How often it is measured in each turn, default once: what is short is soon disturbed. */
  readonly times?: number
  measure(): Promise<Figures>
}

const oneRefusal = 'completion.create/400-empty-prompt'

function ofProcess({ wallMs, cpuMs, memoryMb }: Measured): Figures {
  return { wallMs, cpuMs, memoryMb }
}

function ofRun(run: MeasuredRun): Figures {
  return { ...ofProcess(run), requests: run.report.run.requests, judgingMs: run.report.run.durationMs }
}

const run = (name: string, folder: string, args: readonly string[] = []): Side => ({
  name,
  measure: async () => ofRun(await measureRun(folder, args)),
})

const external = (folder: string): Side => ({
  name: 'external',
  async measure() {
    const served = await serve()
    try {
      return ofRun(await measureRun(folder, ['--target', targetAt(folder, 'external', served.url)]))
    } finally {
      served.close()
    }
  },
})

/** What starts, and what ends soon. */
export function startSides(folder: string): Side[] {
  const of = (name: string, args: readonly string[]): Side => ({
    name,
    times: 5,
    measure: async () => ofProcess(await measureConform(args)),
  })
  return [
    { name: 'node alone', times: 5, measure: async () => ofProcess(await measureProcess(['--eval', '0'])) },
    of('--version', ['--version']),
    of('list', ['list']),
    run(`--only ${oneRefusal}`, folder, ['--only', oneRefusal]),
  ]
}

/** Whole runs, against the embedded reference and against one in another process, and bare undici beside them. */
export function runSides(folder: string): Side[] {
  return [run('embedded', folder), external(folder), bareUndici(folder)]
}

function bareUndici(folder: string): Side {
  let sent: { readonly path: string; readonly traffic: readonly Recorded[] } | undefined
  const record = async (): Promise<{ path: string; traffic: Recorded[] }> => {
    const served = await serve()
    const traffic: Recorded[] = []
    const proxy = await recordBefore(served.url, traffic)
    await measureRun(folder, ['--target', targetAt(folder, 'recorded', proxy.url)])
    proxy.close()
    served.close()
    const path = join(folder, 'requests.json')
    writeFileSync(path, JSON.stringify(traffic.map(({ response: _, ...request }) => request)))
    return { path, traffic }
  }
  return {
    name: 'bare undici, the same requests',
    async measure() {
      sent ??= await record()
      const { path, traffic } = sent
      const played = await playBack(traffic)
      const measured = await measureProcess([file('bench/bare-undici.js'), path, played.url, '8'])
      played.close()
      return { ...ofProcess(measured), requests: traffic.length }
    },
  }
}

/** A target that is 20 ms away, 16 requests at once; and with so many at once that only what must wait for something waits. */
export function latencySides(folder: string): Side[] {
  const latencyMs = 20
  return [16, 256].map((concurrency) => ({
    name: `${latencyMs} ms away, --concurrency ${concurrency}`,
    async measure() {
      const served = await serve()
      const proxy = await delayBefore(served.url, latencyMs)
      try {
        const target = targetAt(folder, 'far', proxy.url)
        const far = await measureRun(folder, ['--target', target, '--concurrency', String(concurrency)])
        const { requests } = far.report.run
        return { ...ofRun(far), idealMs: (latencyMs * requests) / concurrency }
      } finally {
        proxy.close()
        served.close()
      }
    },
  }))
}
