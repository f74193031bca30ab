-- Common functions, prepended to every script. KEYS[1] is the prefix of all keys. The scripts use
-- the clock of Redis, because the clocks of the web processes differ. Times are Unix time in
-- seconds. A "slot" is a capture request; it is "open" while it is pending at its scheduled time.
--
-- slots                 hash   request id: JSON, with `lapses` (expiry) and `busy` (seconds)
-- schedule              zset   request id: its scheduled time; once open, its expiry
-- open:<dep>            zset   open request id: urgency, the lowest first
-- known:<request id>    string exists while requests with this id are ignored by add.lua
-- asked:<dep>:<type>    set    ids of unclaimed requests by users
-- waiting:<dep>         hash   token of a parked handshake: JSON {agent, types, till}
-- held                  zset   token of a parked handshake of any deployment: till
-- busy:<dep>:<agent>    string exists while the agent captures
-- captured:<dep>:<type> zset   agent: time of its last capture
-- given:<token>         string request that the handshake claimed, until it surely has received it
-- returns:<dep>         string time at which the last agent that backs off should return
-- offered               zset   project:dep:type: time of the last offer
-- claimed, lapsed       string counters of claimed and expired requests
local P = KEYS[1]
local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1e6
local REMEMBERED = 128 -- agents in captured:<dep>:<type>
local DAY = 86400

local function score(number)
  return string.format('%.6f', number)
end

local function milliseconds(seconds)
  return string.format('%d', math.max(1, math.ceil(seconds * 1000)))
end

local function find_slot(id)
  local raw = redis.call('HGET', P .. 'slots', id)
  if raw then
    return cjson.decode(raw), raw
  end
end

local function asked_key(slot)
  return P .. 'asked:' .. slot.deployment .. ':' .. slot.type
end

local function remove_slot(slot)
  redis.call('HDEL', P .. 'slots', slot.id)
  redis.call('ZREM', P .. 'schedule', slot.id)
  redis.call('ZREM', P .. 'open:' .. slot.deployment, slot.id)
  redis.call('SREM', asked_key(slot), slot.id)
end

-- Make a request available to every agent that arrives from now on.
local function open_slot(slot)
  local urgency = slot.moment
  if slot.origin == 'person' then
    urgency = urgency - 1e11
  end
  local open = P .. 'open:' .. slot.deployment
  redis.call('ZADD', open, score(urgency), slot.id)
  redis.call('EXPIRE', open, 600)
end

-- Add a request. It is opened at once if its time has come, not only by the next tick: an agent
-- that arrives before that tick would back off from a full queue or get a less urgent request.
local function put_slot(slot, raw)
  redis.call('HSET', P .. 'slots', slot.id, raw)
  redis.call('ZADD', P .. 'schedule', score(slot.moment), slot.id)
  if slot.moment <= now then
    open_slot(slot)
  end
  if slot.origin == 'person' then
    redis.call('SADD', asked_key(slot), slot.id)
    redis.call('EXPIRE', asked_key(slot), 600)
  end
end

local function busy_key(dep, agent)
  return P .. 'busy:' .. dep .. ':' .. agent
end

-- Return the estimated seconds until the agent's capture ends; 0 if it is free.
local function busy_for(dep, agent)
  return math.max(0, redis.call('PTTL', busy_key(dep, agent))) / 1000
end

local function stop_waiting(dep, token)
  redis.call('ZREM', P .. 'held', token)
  return redis.call('HDEL', P .. 'waiting:' .. dep, token)
end

-- Assign a request to one handshake and remove both from the queue; the agent is busy from now on.
local function take(slot, raw, token, agent, keep)
  remove_slot(slot)
  stop_waiting(slot.deployment, token)
  redis.call('SET', busy_key(slot.deployment, agent), 1, 'PX', milliseconds(slot.busy))
  local captured = P .. 'captured:' .. slot.deployment .. ':' .. slot.type
  redis.call('ZADD', captured, score(now), agent)
  redis.call('ZREMRANGEBYRANK', captured, 0, -REMEMBERED - 1)
  redis.call('EXPIRE', captured, DAY)
  redis.call('SET', P .. 'given:' .. token, raw, 'PX', milliseconds(keep))
  redis.call('INCR', P .. 'claimed')
end

-- Return the most urgent open request of the types, decoded and as JSON; nil without any.
local function best_slot(dep, types)
  local wanted = {}
  for _, kind in ipairs(types) do
    wanted[kind] = true
  end
  for _, id in ipairs(redis.call('ZRANGE', P .. 'open:' .. dep, 0, -1)) do
    local slot, raw = find_slot(id)
    if slot and wanted[slot.type] and slot.lapses > now then
      return slot, raw
    end
  end
end

-- Return the number of parked handshakes. At the limit, first remove those whose process died.
local function count_waiting(dep, places)
  local key = P .. 'waiting:' .. dep
  if redis.call('HLEN', key) >= places then
    local all = redis.call('HGETALL', key)
    for at = 1, #all, 2 do
      if cjson.decode(all[at + 1]).till < now then
        stop_waiting(dep, all[at])
      end
    end
  end
  return redis.call('HLEN', key)
end

-- Reserve the next return time as policy.next_return does, and return it in seconds from now.
local function queue_return(dep, spacing)
  local key = P .. 'returns:' .. dep
  local returns = math.max(tonumber(redis.call('GET', key) or 0), now) + spacing
  redis.call('SET', key, score(returns), 'PX', milliseconds(returns - now))
  return returns - now
end
