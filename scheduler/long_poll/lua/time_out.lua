-- End a handshake at its poll timeout. Returns {'request', JSON} if it has claimed a request by then,
-- {'full', seconds until the agent should return} if the queue of the deployment is full or the
-- project has its quota of parked handshakes, and {'ended', '0'} otherwise.
local project, dep, token = ARGV[1], ARGV[2], ARGV[3]
local max_parked, spacing = tonumber(ARGV[4]), tonumber(ARGV[5])
local quota, project_spacing = tonumber(ARGV[6]), tonumber(ARGV[7])
local claimed = redis.call('GET', P .. 'assigned:' .. token)
if claimed then
  return { 'request', claimed }
end
local full = count_parked(project, dep, max_parked) >= max_parked
local over_quota = count_project_parked(project) >= quota
remove_handshake(project, dep, token)
if full then
  return { 'full', score(queue_return(dep, spacing)) }
end
if over_quota then
  return { 'full', score(queue_return('project:' .. project, project_spacing)) }
end
return { 'ended', '0' }
