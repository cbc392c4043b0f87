/// Small pictures, drawn in the colour of the text around them.
package enum Icon {
    package static let logo: HTML = "<img src=/favicon.svg alt=\"\" width=28 height=28>"

    package static let plus = svg("<path d=\"M12 5v14M5 12h14\"/>")
    package static let back = svg("<path d=\"M15 5l-7 7 7 7\"/>")

    package static func svg(_ shape: HTML) -> HTML {
        "<svg viewBox=\"0 0 24 24\" width=24 height=24 aria-hidden=true>\(shape)</svg>"
    }
}
