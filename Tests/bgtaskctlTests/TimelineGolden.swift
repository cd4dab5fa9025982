extension TimelineSVGTests {
    /// What follows the definitions in the picture of a few tasks.
    static let small = #"""
        <rect class="bgtl-paper" width="800" height="226"/>
        <text class="bgtl-head" x="16" y="26">Background tasks</text>
        <text class="bgtl-small" x="210" y="26">2026-11-25 17:58:10 – 18:00:00 (UTC+00:00): 4 tasks</text>
        <rect class="bgtl-band" x="0" y="98" width="800" height="24"/>
        <path class="bgtl-grid" d="M235.9 74V146M313.6 74V146M391.4 74V146M469.1 74V146M546.8 74V146M624.5 74V146M702.3 74V146M780 74V146"/>
        <path class="bgtl-frame" d="M210 74H780M210 146H780"/>
        <text class="bgtl-tick" x="235.9" y="64">17:58:15</text>
        <text class="bgtl-day" x="235.9" y="48">Wed 25 Nov</text>
        <text class="bgtl-tick" x="313.6" y="64">17:58:30</text>
        <text class="bgtl-tick" x="391.4" y="64">17:58:45</text>
        <text class="bgtl-tick" x="469.1" y="64">17:59:00</text>
        <text class="bgtl-tick" x="546.8" y="64">17:59:15</text>
        <text class="bgtl-tick" x="624.5" y="64">17:59:30</text>
        <text class="bgtl-tick" x="702.3" y="64">17:59:45</text>
        <text class="bgtl-tick" x="780" y="64">18:00:00</text>
        <g>
        <g clip-path="url(#bgtl-labels)"><text class="bgtl-name" x="16" y="90">backup</text>
        </g>
        <g><title>1 backup: completed
        waiting 10s, running 30s
        2026-11-25 17:58:20 – 2026-11-25 17:59:00</title><rect class="bgtl-wait" x="261.8" y="84" width="51.8" height="4"/><rect class="bgtl-run" x="313.6" y="81" width="155.5" height="10" rx="2"/><circle class="bgtl-completed" cx="469.1" cy="86" r="6"/><path class="bgtl-check" d="M466.5 86.3l1.9 2.1l3.4 -4.4"/></g>
        <g><title>2 backup: expired
        running 20s, warned, in its grace 10s
        2026-11-25 17:59:10 – 2026-11-25 17:59:40</title><rect class="bgtl-run" x="520.9" y="81" width="103.6" height="10" rx="2"/><rect class="bgtl-grace" x="624.5" y="81" width="51.8" height="10"/><circle class="bgtl-paper" cx="676.4" cy="86" r="6.4"/><path class="bgtl-expired" d="M676.4 80.5l5.6 9.8h-11.2z"/></g>
        </g>
        <g>
        <g clip-path="url(#bgtl-labels)"><text class="bgtl-name" x="16" y="114">flaky</text>
        </g>
        <g><title>4 flaky: has not ended
        waiting 1min 5s, running 30s
        2026-11-25 17:58:25 – now
        attempts: failed at 17:58:50</title><rect class="bgtl-wait" x="287.7" y="108" width="25.9" height="4"/><rect class="bgtl-run" x="313.6" y="105" width="103.6" height="10" rx="2"/><rect class="bgtl-wait" x="417.3" y="108" width="310.9" height="4"/><rect class="bgtl-run" x="728.2" y="105" width="51.8" height="10" rx="2"/><path class="bgtl-notch" d="M417.3 102v16"/><circle class="bgtl-paper" cx="417.3" cy="110" r="4.2"/><path class="bgtl-failed" d="M414.6 107.4l5.3 5.3m0 -5.3l-5.3 5.3"/><path class="bgtl-live" d="M778 104l7 6l-7 6z"/></g>
        </g>
        <g>
        <g clip-path="url(#bgtl-labels)"><text class="bgtl-name" x="16" y="138">a&lt;b&gt;&amp;\u{202e}\x01</text>
        </g>
        <g><title>3 a&lt;b&gt;&amp;\u{202e}\x01: cancelled
        waiting 40s
        2026-11-25 17:58:40 – 2026-11-25 17:59:20</title><rect class="bgtl-wait" x="365.5" y="132" width="207.3" height="4"/><circle class="bgtl-paper" cx="572.7" cy="134" r="6.4"/><path class="bgtl-cancelled" d="M567.5 134h10.4"/></g>
        </g>
        <rect class="bgtl-wait" x="16" y="172" width="26" height="4"/><text class="bgtl-small" x="50" y="178">waiting</text>
        <rect class="bgtl-run" x="166" y="169" width="26" height="10" rx="2"/><text class="bgtl-small" x="200" y="178">running</text>
        <rect class="bgtl-grace" x="316" y="169" width="26" height="10"/><text class="bgtl-small" x="350" y="178">warned, in its grace</text>
        <rect class="bgtl-run" x="466" y="169" width="13" height="10" rx="2"/><path class="bgtl-notch" d="M479 166v16"/><circle class="bgtl-paper" cx="479" cy="174" r="4.2"/><path class="bgtl-failed" d="M476.4 171.4l5.3 5.3m0 -5.3l-5.3 5.3"/><text class="bgtl-small" x="500" y="178">end of an attempt</text>
        <rect class="bgtl-run" x="616" y="169" width="18" height="10" rx="2"/><path class="bgtl-live" d="M632 168l7 6l-7 6z"/><text class="bgtl-small" x="650" y="178">has not ended</text>
        <circle class="bgtl-completed" cx="29" cy="196" r="6"/><path class="bgtl-check" d="M26.4 196.3l1.9 2.1l3.4 -4.4"/><text class="bgtl-small" x="50" y="200">completed</text>
        <circle class="bgtl-paper" cx="179" cy="196" r="6.4"/><path class="bgtl-cancelled" d="M173.8 196h10.4"/><text class="bgtl-small" x="200" y="200">cancelled</text>
        <circle class="bgtl-paper" cx="329" cy="196" r="6.4"/><path class="bgtl-expired" d="M329 190.5l5.6 9.8h-11.2z"/><text class="bgtl-small" x="350" y="200">expired</text>
        <circle class="bgtl-paper" cx="479" cy="196" r="6.4"/><path class="bgtl-failed" d="M475 192l8 8m0 -8l-8 8"/><text class="bgtl-small" x="500" y="200">failed</text>
        </svg>

        """#
}

extension TimelineBlocksTests {
    /// The picture of a few tasks.
    static let small = [
        "2026-11-25 17:58:10 – 18:00:00 (UTC+00:00): 4 tasks",
        "                         Wed 25 Nov",
        "                         ╷17:58:30    ╷17:59:00    ╷17:59:30",
        "backup               ····█████████████✓   █████████▒▒▒▒▲",
        "flaky                  ··█████████┃························████▸",
        "a<b>&\\u{202e}\\x…             ·················━",
        "",
        "· waiting   █ running   ▒ warned, in its grace",
        "┃ end of an attempt   ▸ has not ended   ✓ completed",
        "━ cancelled   ▲ expired",
        "",
    ]

    /// The same where the locale is not UTF-8.
    static let smallASCII = [
        "2026-11-25 17:58:10 - 18:00:00 (UTC+00:00): 4 tasks",
        "                         Wed 25 Nov",
        "                         |17:58:30    |17:59:00    |17:59:30",
        "backup               ....=============o   =========%%%%^",
        "flaky                  ..=========|........................====>",
        "a<b>&\\u{202e}\\x.             ................._",
        "",
        ". waiting   = running   % warned, in its grace",
        "| end of an attempt   > has not ended   o completed",
        "_ cancelled   ^ expired",
        "",
    ]
}
