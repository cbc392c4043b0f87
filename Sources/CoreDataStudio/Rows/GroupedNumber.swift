/// Numbers for people.
enum GroupedNumber {
    /// Returns `1,234,567`.
    static func text(_ number: Int) -> String {
        let digits = String(number.magnitude)
        var result = number < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { result.append(",") }
            result.append(digit)
        }
        return result
    }

    /// Returns `1 object`, `2,000 objects`.
    static func text(_ number: Int, _ word: String, many: String? = nil) -> String {
        "\(text(number)) \(number == 1 ? word : many ?? word + "s")"
    }
}
