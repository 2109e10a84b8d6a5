// As much of GitHub's runner as the workflows of docs/ use: matrices, steps, composite actions, expressions, artifacts, a cache.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { parse } from 'yaml'

/**
 * @param {{ dir: string, project: string, action: string, tools: string, secrets: Record<string, string> }} place `project`: the
 * repository; `action`: the suite's own; `tools`: programs that go before those of the machine
 * @returns {(workflow: any) => Promise<{ result: string, said: string, summary: string, artifacts: string }>}
 */
export function gitHub({ dir, project, action, tools, secrets }) {
  const cache = join(dir, 'cache')
  let runs = 0

  return async function run(workflow) {
    const home = join(dir, `run-${++runs}`)
    const artifacts = join(home, 'artifacts')
    const results = {}
    let said = ''
    let summary = ''

    for (const [name, job] of Object.entries(workflow.jobs)) {
      const needs = [job.needs ?? []].flat()
      const goesOn = job.if === 'always()' || needs.every((one) => results[one] === 'success')
      results[name] = goesOn ? 'success' : 'skipped'
      if (!goesOn) continue
      for (const [at, matrix] of combinations(job.strategy?.matrix).entries()) {
        const work = join(home, `${name}-${at}`)
        mkdirSync(work, { recursive: true })
        const context = {
          matrix,
          secrets,
          github: { run_number: String(runs), token: 'a-token' },
          steps: {},
          inputs: {},
        }
        const isDone = await steps(job.steps, context, { work, path: work })
        if (!isDone) results[name] = 'failure'
        summary += existsSync(join(work, '.summary'))
          ? readFileSync(join(work, '.summary'), 'utf8')
          : ''
      }
    }
    const isSuccess = Object.values(results).every((one) => one === 'success')
    return { result: isSuccess ? 'success' : 'failure', said, summary, artifacts }

    async function steps(list, context, { work, path }) {
      let isSuccess = true
      for (const step of list) {
        if (!(step.if === 'always()' || (isSuccess && isTrue(step.if, context)))) continue
        const done = step.uses
          ? await use(step, context, work)
          : await script(step, context, { work, path })
        if (!done && !step['continue-on-error']) isSuccess = false
      }
      return isSuccess
    }

    async function use(step, context, work) {
      const given = Object.fromEntries(
        Object.entries(step.with ?? {}).map(([name, value]) => [
          name,
          filled(String(value), context),
        ]),
      )
      const [of] = step.uses.split('@')
      if (of === 'actions/checkout') {
        cpSync(project, work, { recursive: true })
        return true
      }
      if (of === 'actions/setup-node') return true
      if (of === 'actions/upload-artifact') return upload(given, work)
      if (of === 'actions/download-artifact') {
        const [prefix] = given.pattern.split('*')
        for (const name of readdirSync(artifacts).filter((one) => one.startsWith(prefix)))
          cpSync(join(artifacts, name), work, { recursive: true })
        return true
      }
      if (of === 'actions/cache') {
        const kept = join(cache, given.key)
        context.steps[step.id] = { outputs: { 'cache-hit': String(existsSync(kept)) } }
        if (existsSync(kept)) cpSync(kept, given.path, { recursive: true })
        else context.after = () => cpSync(given.path, kept, { recursive: true })
        return true
      }
      if (of !== 'OWNER/ai-content-conformance')
        throw new Error(`${step.uses}: what it does is not known here`)
      // Each machine has the action anew.
      rmSync(join(action, 'standalone'), { recursive: true, force: true })
      const { inputs, runs: composite } = parse(readFileSync(join(action, 'action.yml'), 'utf8'))
      const unknown = Object.keys(given).filter((name) => !Object.hasOwn(inputs, name))
      if (unknown.length > 0) throw new Error(`the action has no input ${unknown.join(', ')}`)
      const standard = Object.fromEntries(
        Object.entries(inputs).map(([name, { default: value = '' }]) => [name, value]),
      )
      const inner = { ...context, steps: {}, inputs: { ...standard, ...given } }
      const isDone = await steps(composite.steps, inner, { work, path: action })
      inner.after?.()
      return isDone
    }

    function upload({ name, path, 'if-no-files-found': missing }, work) {
      const [prefix, end = ''] = path.split('*')
      const found = path.includes('*')
        ? readdirSync(work).filter((one) => one.startsWith(prefix) && one.endsWith(end))
        : [path].filter((one) => existsSync(join(work, one)))
      for (const one of found) {
        const to = join(artifacts, name, one)
        mkdirSync(dirname(to), { recursive: true })
        cpSync(join(work, one), to)
      }
      return found.length > 0 || missing !== 'error'
    }

    async function script(step, context, { work, path }) {
      const output = join(work, '.output')
      writeFileSync(output, '')
      const env = Object.fromEntries(
        Object.entries(step.env ?? {}).map(([name, value]) => [
          name,
          filled(String(value), context),
        ]),
      )
      const child = spawn(
        'bash',
        ['--noprofile', '--norc', '-eo', 'pipefail', '-c', filled(step.run, context)],
        {
          cwd: work,
          env: {
            ...{
              PATH: `${tools}:${process.env.PATH}`,
              HOME: home,
              CI: 'true',
              NO_COLOR: '1',
              GITHUB_ACTIONS: 'true',
            },
            ...{
              GITHUB_ACTION_PATH: path,
              GITHUB_OUTPUT: output,
              GITHUB_STEP_SUMMARY: join(work, '.summary'),
              ...env,
            },
          },
        },
      )
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (piece) => (said += piece))
      const [code] = await once(child, 'close')
      const outputs = readFileSync(output, 'utf8')
        .trim()
        .split('\n')
        .map((line) => line.split(/=(.*)/s))
      if (step.id) context.steps[step.id] = { outputs: Object.fromEntries(outputs) }
      return code === 0
    }
  }
}

function combinations(matrix) {
  if (matrix === undefined) return [{}]
  const { include = [], ...lists } = matrix
  const all = Object.entries(lists).reduce(
    (before, [name, values]) =>
      before.flatMap((one) => values.map((value) => ({ ...one, [name]: value }))),
    [{}],
  )
  return Object.keys(lists).length === 0 ? include : all
}

/** `a.b`, `a[b.c]`: of an expression more is not used. */
function valueOf(expression, context) {
  const [, of, key] = /^(\w+)\[(.+)\]$/.exec(expression) ?? []
  if (of !== undefined) return context[of][valueOf(key, context)] ?? ''
  return expression.split('.').reduce((value, name) => value?.[name], context) ?? ''
}

function filled(text, context) {
  return text.replaceAll(/\$\{\{ *(.*?) *\}\}/g, (_, expression) =>
    String(valueOf(expression, context)),
  )
}

function isTrue(condition, context) {
  if (condition === undefined) return true
  const [, expression, text] = /^\$\{\{ *(\S+) != '(.*)' *\}\}$/.exec(condition) ?? []
  if (expression === undefined) throw new Error(`${condition}: such a condition is not known here`)
  return valueOf(expression, context) !== text
}
