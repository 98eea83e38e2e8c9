-- Takes or renews a lease.
--
-- KEYS  the lease
-- ARGV  owner, milliseconds (0: release it)
-- Answers 1 when the owner holds it now.

local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
if ARGV[2] == '0' then
    redis.call('DEL', KEYS[1])
    return 0
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
