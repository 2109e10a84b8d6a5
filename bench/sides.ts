import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defects } from '../reference/server.ts'
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
const broken = 'jobs.create/404-unknown-application'

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

const external = (folder: string, name: string, args: readonly string[] = []): Side => ({
  name,
  async measure() {
    const served = await serve()
    try {
      return ofRun(await measureRun(folder, ['--target', targetAt(folder, 'external', served.url), ...args]))
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
  return [run('embedded', folder), external(folder, 'external'), bareUndici(folder)]
}

/** How the cost grows with the number of generated cases. */
export function manyCasesSides(folder: string): Side[] {
  return ['100', '400'].map((cases) => external(folder, `external, --runs ${cases}`, ['--runs', cases]))
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
    writeFileSync(path, JSON.stringify(traffic.map(({ answer: _, ...request }) => request)))
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

/** A target that is far away, 16 requests at once; and with so many at once that only what must wait for something waits. */
export function latencySides(folder: string, latenciesMs: readonly number[]): Side[] {
  const at = (latencyMs: number, concurrency: number): Side => ({
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
  })
  return latenciesMs.flatMap((latencyMs) => [at(latencyMs, 16), at(latencyMs, 256)])
}

/** A server that names another type of the family wherever the interface allows no more than that. */
export function familySides(folder: string): Side[] {
  const otherNames = defects.filter((defect) => defect.endsWith('#tpe'))
  let names: Promise<string[]> | undefined
  const judged = async (options: object, args: readonly string[]): Promise<MeasuredRun> => {
    const served = await serve(options)
    try {
      const target = targetAt(folder, 'family', served.url)
      return await measureRun(folder, ['--target', target, ...args], { codes: [0, 1] })
    } finally {
      served.close()
    }
  }
  const find = async (): Promise<string[]> => {
    const { report } = await judged({ defects: otherNames }, [])
    const ofFamily = report.requirements.filter(
      ({ outcome, failures }) => outcome === 'failed' && failures.every(({ familyOnly }) => familyOnly),
    )
    return ofFamily.map(({ id }) => `${id}#tpe`).filter((name) => otherNames.includes(name))
  }
  return [
    {
      name: 'family names, --tpe family',
      async measure() {
        names ??= find()
        return ofRun(await judged({ defects: await names }, ['--tpe', 'family']))
      },
    },
  ]
}

/** When somebody who looks at the terminal sees the first failure. */
export function failureSides(folder: string): Side[] {
  return [[], ['--bail']].map((args) => ({
    name: ['first failure shown', ...args].join(', '),
    async measure() {
      const served = await serve({ defects: [broken] })
      try {
        const target = targetAt(folder, 'broken', served.url)
        const { shownMs = Number.NaN } = await measureConform(['--seed', '1', '--target', target, ...args], {
          awaited: '✗',
          codes: [1],
        })
        return { wallMs: shownMs }
      } finally {
        served.close()
      }
    },
  }))
}
