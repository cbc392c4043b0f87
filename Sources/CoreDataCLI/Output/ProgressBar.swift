import Foundation

/// A progress bar on one line of a terminal; silent if standard error is not a terminal.
///
///     Importing  [██████████▌         ]  52 %  12,400 records
struct ProgressBar {
    private let title: String
    private let unit: String
    private let isShown: Bool
    private var lastDrawn: ContinuousClock.Instant?
    private static let width = 24

    init(_ title: String, unit: String, isShown: Bool = Terminal.showsProgress) {
        self.title = title
        self.unit = unit
        self.isShown = isShown
    }

    /// Updates the bar; draws at most ten times per second.
    mutating func update(fraction: Double, count: Int) {
        guard isShown else { return }
        let now = ContinuousClock.now
        if let lastDrawn, now - lastDrawn < .milliseconds(100) { return }
        lastDrawn = now
        Terminal.writeError("\r\u{1B}[K" + Self.line(title, fraction: fraction, count: count, unit: unit))
    }

    /// Clears the line.
    func finish() {
        if isShown, lastDrawn != nil { Terminal.writeError("\r\u{1B}[K") }
    }

    static func line(_ title: String, fraction: Double, count: Int, unit: String) -> String {
        let fraction = min(max(fraction, 0), 1)
        let eighths = Int(fraction * Double(width * 8))
        let partial = eighths % 8 == 0 ? "" : String(Array("▏▎▍▌▋▊▉")[eighths % 8 - 1])
        let bar = String(repeating: "█", count: eighths / 8) + partial
        let rest = String(repeating: " ", count: width - bar.count)
        let number = String(Int(fraction * 100))
        let percent = String(repeating: " ", count: 3 - number.count) + number
        return "\(title)  [\(bar)\(rest)]  \(percent) %  \(Grouped.text(count)) \(unit)"
    }
}

/// Formats numbers for people: `12,400`.
enum Grouped {
    /// Returns `1 file`, `2,000 files`.
    static func text(_ number: Int, _ word: String, many: String? = nil) -> String {
        "\(text(number)) \(number == 1 ? word : many ?? word + "s")"
    }

    static func text(_ number: Int) -> String {
        let digits = String(number.magnitude)
        var result = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { result.append(",") }
            result.append(digit)
        }
        return (number < 0 ? "-" : "") + result
    }
}
