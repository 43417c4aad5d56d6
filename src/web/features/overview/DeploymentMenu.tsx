import { useDispatch } from 'react-redux'
import { useNavigate } from 'react-router-dom'
import type { Deployment } from '../../../contract/deployment'
import type { Instance } from '../../../contract/instance'
import { countsOf } from '../../api/deployments'
import { useAppDispatch, useAppSelector } from '../../app/hooks'
import { toggleDeployment, useIsRestarting, useIsToggling } from '../../deploymentPower/power'
import { useAskFirst } from '../../deploymentPower/useAskFirst'
import { missingRight, useAccess } from '../../api/useAccess'
import { Menu, MenuItem } from '../../ui/Menu'
import { configurationAddress, deploymentConsolesAddress, filesAddress } from '../../addresses'
import { menuClosed, menuOpened, selectMenu } from './overviewSlice'

type DeploymentMenuProps = { deployment: Deployment; instances: Instance[] }

export function DeploymentMenu({ deployment, instances }: DeploymentMenuProps) {
  const { name } = deployment
  const isOpen = useAppSelector((state) => selectMenu(state) === name)
  const dispatch = useDispatch()
  return (
    <Menu
      label={`Actions for ${name}`}
      isOpen={isOpen}
      onToggle={(open) => dispatch(open ? menuOpened(name) : menuClosed())}
    >
      <Items {...deployment} instances={instances} />
    </Menu>
  )
}

/** Rendered while the menu is open. */
function Items({ name, enabled, dataDirectory, instances }: Omit<Deployment, 'instances'> & { instances: Instance[] }) {
  const isRestarting = useIsRestarting(name)
  const isToggling = useIsToggling(name)
  const askFirst = useAskFirst()
  const { may } = useAccess()
  const dispatch = useAppDispatch()
  const navigate = useNavigate()
  const mayPower = may('power', name) ? undefined : missingRight('power')

  const restartProblem = () => {
    if (!enabled) return 'Only an active deployment can be restarted'
    return isRestarting ? 'It is being restarted' : undefined
  }
  const consolesProblem = () => {
    if (!may('console', name)) return missingRight('console')
    return instances.length < 2 ? 'It has fewer than two instances' : undefined
  }
  return (
    <>
      <MenuItem
        disabledBecause={mayPower ?? restartProblem()}
        onClick={() => askFirst('restart', name, countsOf(instances))}
      >
        Restart deployment
      </MenuItem>
      {enabled ? (
        <MenuItem disabledBecause={mayPower} onClick={() => askFirst('disable', name, countsOf(instances))}>
          Disable
        </MenuItem>
      ) : (
        <MenuItem
          disabledBecause={mayPower ?? (isToggling ? 'It is being changed' : undefined)}
          onClick={() => void dispatch(toggleDeployment(name, true))}
        >
          Enable
        </MenuItem>
      )}
      <MenuItem disabledBecause={consolesProblem()} onClick={() => void navigate(deploymentConsolesAddress(instances))}>
        Open consoles side by side
      </MenuItem>
      <MenuItem
        disabledBecause={may('files', name) ? undefined : missingRight('files')}
        onClick={() => void navigate(filesAddress(dataDirectory))}
      >
        Open files
      </MenuItem>
      <MenuItem
        disabledBecause={may('configuration', name) ? undefined : missingRight('configuration')}
        onClick={() => void navigate(configurationAddress(name))}
      >
        Edit configuration
      </MenuItem>
      <MenuItem onClick={() => void navigate('/deployments')}>Go to deployments</MenuItem>
    </>
  )
}
