-- The atomic commit (ARCHITECTURE §1): every check comes before the first write, for Redis does not roll back.
--
-- KEYS  the position hash of the service; then every other key, once
-- ARGV  number, nonce, n, n fields and values for the position hash;
--       for each key after the first, what must hold of it:
--           "=" id       a stream that ends with this id ("0-0": that is empty)
--           "<" ms seq   a stream that ends below this id
--           "s" "h" "z" "t"   a stream, hash, sorted set, string, or nothing
--           "x"          no stream
--       then writes, each with the place of its key in KEYS and its n arguments:
--           "*" key n data...       appended with the server's ids
--           "+" key n id data...    appended with these ids
--           COMMAND key n argument...
-- Answers {1, the last id of each "*" in their order}: committed, 0: this very commit was applied before, -1: fenced; or
-- an error "BADCOMMIT ...".
-- Redis 6.2, 7 and Valkey.

local call, pcall, argv = redis.call, redis.pcall, ARGV
local position = KEYS[1]

local stands = call('HMGET', position, 'number', 'nonce')
if stands[2] == argv[2] then return 0 end
if (stands[1] or '0') ~= argv[1] then return -1 end

local LENGTHS = {s = 'XLEN', h = 'HLEN', z = 'ZCARD', t = 'STRLEN'}

local function last_generated(key)
    local info = pcall('XINFO', 'STREAM', key)
    if info.err then
        return string.find(info.err, 'no such key', 1, true) and '0-0' or nil
    end
    for i = 1, #info, 2 do
        if info[i] == 'last-generated-id' then return info[i + 1] end
    end
end

local function bad(key, what)
    return redis.error_reply('BADCOMMIT ' .. key .. ' ' .. what)
end

local at = 4 + tonumber(argv[3])
for k = 2, #KEYS do
    local key, must = KEYS[k], argv[at]
    at = at + 1
    if must == '=' then
        local newest = pcall('XREVRANGE', key, '+', '-', 'COUNT', 1)
        if newest.err then return bad(key, 'holds another kind of value') end
        -- What was trimmed away, or deleted, is known to XINFO only.
        if not (newest[1] and newest[1][1] == argv[at]) and last_generated(key) ~= argv[at] then return -1 end
        at = at + 1
    elseif must == '<' then
        local last = last_generated(key)
        if not last then return bad(key, 'holds another kind of value') end
        local ms, seq = string.match(last, '(%d+)-(%d+)')
        ms, seq = tonumber(ms), tonumber(seq)
        local first_ms, first_seq = tonumber(argv[at]), tonumber(argv[at + 1])
        if ms > first_ms or (ms == first_ms and seq >= first_seq) then
            return bad(key, 'ends with ' .. last .. ', not below ' .. argv[at] .. '-' .. argv[at + 1])
        end
        at = at + 2
    elseif must == 'x' then
        if call('TYPE', key).ok == 'stream' then return bad(key, 'is a stream') end
    elseif type(pcall(LENGTHS[must], key)) ~= 'number' then
        return bad(key, 'holds another kind of value')
    end
end

-- The first write is one that Redis refuses when memory is short; after it, nothing more is refused.
call('HSET', position, unpack(argv, 4, 3 + tonumber(argv[3])))
local answer = {1}
while at <= #argv do
    local what, key, n = argv[at], KEYS[tonumber(argv[at + 1])], tonumber(argv[at + 2])
    local first, last = at + 3, at + 2 + n
    if what == '*' then
        local id
        for i = first, last do id = call('XADD', key, '*', 'm', argv[i]) end
        answer[#answer + 1] = id
    elseif what == '+' then
        for i = first, last, 2 do call('XADD', key, argv[i], 'm', argv[i + 1]) end
    else
        call(what, key, unpack(argv, first, last))
    end
    at = last + 1
end

return answer
