# Cleans up after a test process, however that process ended.
#
# $1 is the directory to remove. Every line on standard input replaces the list of process groups
# to end, each written SIGNAL:GROUP. Standard input ends when the test process does.

trap '' HUP INT TERM

groups=
while read -r line; do
    groups=$line
done

for entry in $groups; do
    kill -s "${entry%%:*}" -- "-${entry#*:}"
done

tries=0
for entry in $groups; do
    while [ "$tries" -lt 50 ] && kill -s 0 -- "-${entry#*:}"; do
        tries=$((tries + 1))
        sleep 0.1
    done
    kill -s KILL -- "-${entry#*:}"
done

rm -rf -- "$1"
