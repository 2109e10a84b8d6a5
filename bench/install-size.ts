import { execFileSync } from 'node:child_process'
import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { file } from './conform.ts'

export interface InstallSize {
  readonly packages: number
  readonly mb: number
}

/** Packs the package, installs it into an empty project and looks at what came. Asks the package registry. */
export function installSize(folder: string): InstallSize {
  const project = join(folder, 'installed')
  mkdirSync(project)
  const npm = (args: readonly string[], cwd: string): string =>
    execFileSync('npm', [...args], { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  const packed = npm(['pack', '--json', '--ignore-scripts', '--pack-destination', project], file('.'))
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }]
  writeFileSync(join(project, 'package.json'), '{"private": true}')
  npm(['install', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', `./${filename}`], project)
  const lock = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { peer?: boolean }>
  }
  const packages = Object.entries(lock.packages).filter(([path, { peer }]) => path !== '' && peer !== true)
  const modules = join(project, 'node_modules')
  const bytes = readdirSync(modules, { recursive: true, encoding: 'utf8' }).reduce((sum, path) => {
    const { size } = lstatSync(join(modules, path))
    return sum + size
  }, 0)
  return { packages: packages.length, mb: bytes / 1024 / 1024 }
}
