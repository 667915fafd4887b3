# shellcheck shell=sh disable=SC2154  # fate-run.sh sets $outfile
# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced by fate-run.sh and tests/gpu.sh. Shortens the output of tests: a motion field, the pictures of a format, or the
# numbers of a file become one line with a checksum. If the test fails, the whole output is beside its messages, in
# tests/data/fate/TEST.full; KEEP=2 keeps it also if the test succeeds (tests/README.md).

# gpume_sums COMMAND...: runs the command, and prints one line for successive lines of the same kind. Other lines are
# printed as they are.
gpume_sums() {
    cleanfiles="${cleanfiles-} $outfile.full"
    "$@" > "$outfile.full" || return
    echo "The complete output is in $outfile.full." >&2
    awk -F, '
        # Returns what a line is about: a row of a field, the checksum of a picture, or numbers that od printed.
        function subject() {
            if (/^[0-9]+,-?[0-9]+,/)
                return "frame " $1 ", source " $2
            if (/^[a-z0-9]+: /)
                return substr($0, 1, index($0, ":") - 1)
            return /^ / ? "numbers" : ""
        }
        function finish() {
            if (lines)
                printf "%s: %d lines%s, adler32 0x%04x%04x\n", current, lines, sums, b, a
            lines = b = x = y = cost = 0
            a = 1
            sums = ""
        }
        BEGIN {
            for (i = 1; i < 128; i++)
                code[sprintf("%c", i)] = i
            finish()
        }
        {
            sub(/\r$/, "")
            s = subject()
            if (s != current)
                finish()
            current = s
            if (s == "") {
                print
                next
            }
            lines++
            if (s ~ /^frame /)
                sums = sprintf(", motion %d %d, cost %.0f", x += $10, y += $11, cost += $13)
            line = $0 "\n"
            for (i = 1; i <= length(line); i++) {
                a = (a + code[substr(line, i, 1)]) % 65521
                b = (b + a) % 65521
            }
        }
        END { finish() }' "$outfile.full"
}

# gpume_npy FILE: prints the header of a .npy file as text, then its numbers.
gpume_npy() {
    head -c 128 "$1" | tr -c "[:print:]" "." && echo && tail -c +129 "$1" | od -A n -v -t d4
}

# gpume_npys OPTIONS...: prints the records that ffmpeg writes to a pipe.
gpume_npys() {
    ffmpeg "$@" | od -A n -v -t x4z
}
