-- Common functions, prepended to every script. KEYS[1] is the prefix of all keys. The scripts use
-- the clock of Redis, because the clocks of the web processes differ. Times are Unix time in
-- seconds. A capture request is "open" while it is pending at its scheduled time.
--
-- requests                 hash   request id: JSON, with `expires_at` and `busy` (seconds)
-- schedule                 zset   request id: its scheduled time; once open, its expiry
-- open:<dep>               zset   open request id: urgency, the lowest first
-- added:<request id>       string exists while requests with this id are ignored by add.lua
-- user_requests:<dep>:<type> set  ids of unclaimed requests by users
-- handshakes:<dep>         hash   token of a parked handshake: JSON {agent, types, poll_ends}
-- parked                   zset   token of a parked handshake of any deployment: poll_ends
-- parked:<project>         zset   token of a parked handshake of the project: poll_ends
-- busy:<dep>:<agent>       string exists while the agent captures
-- captured:<dep>:<type>    zset   agent: time of its last capture
-- assigned:<token>         string request that the handshake claimed, until it surely received it
-- next_return:<dep>        string time at which the last agent that backs off should return;
--                                 next_return:project:<project> for those over their quota
-- handshake_times          zset   project:dep:type: time of the last handshake that offers the type
-- count:added, count:claimed, count:expired  string  counters of requests
local P = KEYS[1]
local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1e6
local MAX_HISTORY = 128 -- agents in captured:<dep>:<type>
local DAY = 86400

local function score(number)
  return string.format('%.6f', number)
end

local function milliseconds(seconds)
  return string.format('%d', math.max(1, math.ceil(seconds * 1000)))
end

local function find_request(id)
  local raw = redis.call('HGET', P .. 'requests', id)
  if raw then
    return cjson.decode(raw), raw
  end
end

local function user_requests_key(request)
  return P .. 'user_requests:' .. request.deployment .. ':' .. request.type
end

local function remove_request(request)
  redis.call('HDEL', P .. 'requests', request.id)
  redis.call('ZREM', P .. 'schedule', request.id)
  redis.call('ZREM', P .. 'open:' .. request.deployment, request.id)
  redis.call('SREM', user_requests_key(request), request.id)
end

-- Make a request available to every agent that arrives from now on.
local function open_request(request)
  local urgency = request.scheduled
  if request.origin == 'person' then
    urgency = urgency - 1e11
  end
  local open = P .. 'open:' .. request.deployment
  redis.call('ZADD', open, score(urgency), request.id)
  redis.call('EXPIRE', open, 600)
end

-- Add a request. It is opened at once if its time has come, not only by the next tick: an agent
-- that arrives before that tick would back off from a full queue or get a less urgent request.
local function put_request(request, raw)
  redis.call('HSET', P .. 'requests', request.id, raw)
  redis.call('ZADD', P .. 'schedule', score(request.scheduled), request.id)
  if request.scheduled <= now then
    open_request(request)
  end
  if request.origin == 'person' then
    redis.call('SADD', user_requests_key(request), request.id)
    redis.call('EXPIRE', user_requests_key(request), 600)
  end
end

local function busy_key(dep, agent)
  return P .. 'busy:' .. dep .. ':' .. agent
end

-- Return the estimated seconds until the agent's capture ends; 0 if it is free.
local function busy_seconds(dep, agent)
  return math.max(0, redis.call('PTTL', busy_key(dep, agent))) / 1000
end

local function parked_key(project)
  return string.format('%sparked:%d', P, project)
end

local function remove_handshake(project, dep, token)
  redis.call('ZREM', P .. 'parked', token)
  redis.call('ZREM', parked_key(project), token)
  return redis.call('HDEL', P .. 'handshakes:' .. dep, token)
end

-- Assign a request to one handshake and remove both from the queue; the agent is busy from now on.
local function assign(request, raw, token, agent, seconds_stored)
  remove_request(request)
  remove_handshake(request.project, request.deployment, token)
  redis.call('SET', busy_key(request.deployment, agent), 1, 'PX', milliseconds(request.busy))
  local captured = P .. 'captured:' .. request.deployment .. ':' .. request.type
  redis.call('ZADD', captured, score(now), agent)
  redis.call('ZREMRANGEBYRANK', captured, 0, -MAX_HISTORY - 1)
  redis.call('EXPIRE', captured, DAY)
  redis.call('SET', P .. 'assigned:' .. token, raw, 'PX', milliseconds(seconds_stored))
  redis.call('INCR', P .. 'count:claimed')
end

-- Return the most urgent open request of the types, decoded and as JSON; nil without any.
local function most_urgent(dep, types)
  local accepted = {}
  for _, kind in ipairs(types) do
    accepted[kind] = true
  end
  for _, id in ipairs(redis.call('ZRANGE', P .. 'open:' .. dep, 0, -1)) do
    local request, raw = find_request(id)
    if request and accepted[request.type] and request.expires_at > now then
      return request, raw
    end
  end
end

-- Return the number of parked handshakes. At the limit, first remove those whose process died.
local function count_parked(project, dep, max_parked)
  local key = P .. 'handshakes:' .. dep
  if redis.call('HLEN', key) >= max_parked then
    local all = redis.call('HGETALL', key)
    for i = 1, #all, 2 do
      if cjson.decode(all[i + 1]).poll_ends < now then
        remove_handshake(project, dep, all[i])
      end
    end
  end
  return redis.call('HLEN', key)
end

-- Return the number of parked handshakes of a project, without those whose process died.
local function count_project_parked(project)
  local key = parked_key(project)
  redis.call('ZREMRANGEBYSCORE', key, '-inf', score(now))
  return redis.call('ZCARD', key)
end

-- Let a key with entries that last `seconds` from now exist at least that long.
local function extend_lifetime(key, seconds)
  if redis.call('PTTL', key) < seconds * 1000 then
    redis.call('PEXPIRE', key, milliseconds(seconds))
  end
end

-- Reserve the next return time as policy.next_return does, and return it in seconds from now.
-- `name` is a deployment, or 'project:' and a project.
local function queue_return(name, spacing)
  local key = P .. 'next_return:' .. name
  local returns = math.max(tonumber(redis.call('GET', key) or 0), now) + spacing
  redis.call('SET', key, score(returns), 'PX', milliseconds(returns - now))
  return returns - now
end
