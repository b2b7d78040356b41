# SPDX-License-Identifier: Apache-2.0
"""Wrong assignments of each kind give exactly the expected messages; right ones the right values."""

import shutil
import unittest

import support
from dynsel_build import config as configs, explain, matrix, variants
from dynsel_build.errors import UserMistake
from dynsel_build.trees import own


class Case(unittest.TestCase):
    def load(self, board="plain", kconfig=support.KCONFIG, **files):
        top = support.menu_tree(kconfig, **files)
        self.addCleanup(shutil.rmtree, top)
        fragments = [name for name in files if not name.startswith("board__")]
        return configs.load(own(top), board, configs.layers_of(own(top), board, fragments),
                            "+".join([board, *fragments]))

    def mistakes(self, *args, **kwargs):
        with self.assertRaises(UserMistake) as caught:
            self.load(*args, **kwargs)
        return caught.exception.lines


class Values(Case):
    def test_empty_fragment_gives_typed_defaults(self):
        config = self.load()
        self.assertIs(config["DYNSEL_CACHE"], False)
        self.assertIs(config["DYNSEL_COLOUR_RED"], True)
        self.assertEqual(config["DYNSEL_MASK"], 0x10)
        self.assertEqual(config["DYNSEL_GREETING"], "hello")
        self.assertIsNone(config["DYNSEL_CACHE_LINES"])

    def test_every_valid_line_form_is_accepted(self):
        config = self.load("radio", f='# a comment\n\nCONFIG_DYNSEL_CACHE=y\nCONFIG_DYNSEL_CACHE_LINES=64\n'
                           'CONFIG_DYNSEL_MASK=0xfF\nCONFIG_DYNSEL_GREETING="a \\"b\\" \\\\ c"\n'
                           "# CONFIG_DYNSEL_RADIO is not set\n")
        self.assertEqual(config["DYNSEL_CACHE_LINES"], 64)
        self.assertEqual(config["DYNSEL_MASK"], 0xFF)
        self.assertEqual(config["DYNSEL_GREETING"], 'a "b" \\ c')
        self.assertFalse(config["DYNSEL_RADIO"])
        self.assertEqual(config.notes, [])

    def test_line_order_in_file_changes_no_value(self):
        config = self.load(f="CONFIG_DYNSEL_CACHE_LINES=5\nCONFIG_DYNSEL_CACHE=y\n")
        self.assertEqual(config["DYNSEL_CACHE_LINES"], 5)

    def test_unset_default_follows_its_feature(self):
        self.assertEqual(self.load(a="CONFIG_DYNSEL_CACHE=n\n", b="CONFIG_DYNSEL_CACHE=y\n")
                         ["DYNSEL_CACHE_LINES"], 8)

    def test_unknown_name_in_sconscript_is_error(self):
        with self.assertRaisesRegex(UserMistake, "no option named DYNSEL_CASH; did you mean DYNSEL_CACHE"):
            self.load()["DYNSEL_CASH"]


class Mistakes(Case):
    """Each pair: the lines of a fragment, what is said about them."""

    def expect(self, text, *messages, board="plain"):
        self.assertEqual(self.mistakes(board, f=text), [f"configs/f.conf:{m}" for m in messages])

    def test_unmet_dependency_error_names_conditions(self):
        self.expect("CONFIG_DYNSEL_RADIO=y\n",
                    "1: CONFIG_DYNSEL_RADIO=y did not take effect (is n):"
                    " DYNSEL_HAS_RADIO is n, DYNSEL_CACHE is n")
        self.expect("CONFIG_DYNSEL_CACHE=n\nCONFIG_DYNSEL_CACHE_LINES=9\n",
                    "2: CONFIG_DYNSEL_CACHE_LINES=9 did not take effect (is without a value):"
                    " DYNSEL_CACHE is n (configs/f.conf:1)")

    def test_unknown_option_error_names_nearest(self):
        self.expect("CONFIG_DYNSEL_CASHE=y\n",
                    "1: no option named CONFIG_DYNSEL_CASHE; did you mean CONFIG_DYNSEL_CACHE?")
        self.expect("CONFIG_CACHE_LINES=1\n",
                    "1: no option named CONFIG_CACHE_LINES; did you mean CONFIG_DYNSEL_CACHE_LINES?")

    def test_number_out_of_range_error_names_range(self):
        self.expect("CONFIG_DYNSEL_CACHE=y\nCONFIG_DYNSEL_CACHE_LINES=65\n",
                    "2: CONFIG_DYNSEL_CACHE_LINES=65 is out of range; 1 to 64 is allowed")
        self.expect("CONFIG_DYNSEL_MASK=0x100\n",
                    "1: CONFIG_DYNSEL_MASK=0x100 is out of range; 0x0 to 0xff is allowed")

    def test_value_of_wrong_type_error_names_form(self):
        is_int = "CONFIG_DYNSEL_CACHE_LINES is an int; write a decimal number without quotes or leading zero"
        for value in ("abc", '"5"', "05", "+5", "1_0", "0x5", "5.0", "y"):
            self.expect(f"CONFIG_DYNSEL_CACHE_LINES={value}\n",
                        f"1: CONFIG_DYNSEL_CACHE_LINES={value}: {is_int}")
        for value in ("yes", "nope", "1", "Y", "m", '"y"'):
            self.expect(f"CONFIG_DYNSEL_CACHE={value}\n",
                        f"1: CONFIG_DYNSEL_CACHE={value}: CONFIG_DYNSEL_CACHE is a bool;"
                        " write CONFIG_DYNSEL_CACHE=y or CONFIG_DYNSEL_CACHE=n")
        self.expect("CONFIG_DYNSEL_GREETING=hi\n",
                    "1: CONFIG_DYNSEL_GREETING=hi: CONFIG_DYNSEL_GREETING is a text;"
                    ' write it in double quotes: CONFIG_DYNSEL_GREETING="..."')
        self.expect("CONFIG_DYNSEL_MASK=12\n",
                    "1: CONFIG_DYNSEL_MASK=12: CONFIG_DYNSEL_MASK is a hex number;"
                    " write it as 0x1f, without quotes")

    def test_too_long_number_is_refused(self):
        """Python itself refuses to read one of more than 4300 digits."""
        for option, number in (("DYNSEL_CACHE_LINES", "9" * 5000), ("DYNSEL_CACHE_LINES", "-" + "9" * 5000),
                               ("DYNSEL_CACHE_LINES", "9" * 19), ("DYNSEL_MASK", "0x" + "f" * 5000)):
            self.expect(f"CONFIG_DYNSEL_CACHE=y\nCONFIG_{option}={number}\n",
                        f"2: CONFIG_{option}={number if len(number) < 40 else number[:40] + '...'}: CONFIG_{option} has"
                        f" {len(number)} characters; write a number of at most 18 digits")
        self.expect(f"CONFIG_DYNSEL_CACHE=y\nCONFIG_DYNSEL_CACHE_LINES={'9' * 18}\n",
                    f"2: CONFIG_DYNSEL_CACHE_LINES={'9' * 18} is out of range; 1 to 64 is allowed")
        for old, new in (("default 8", "default " + "8" * 5000), ("range 1 64", "range 1 " + "6" * 5000)):
            self.assertIn("CACHE_LINES", self.mistakes(kconfig=support.KCONFIG.replace(old, new))[0])

    def test_malformed_line_error_names_correct_form(self):
        around = "; write NAME=value without blanks"
        self.expect("CONFIG_DYNSEL_CACHE = y\n", f"1: blank around '=' in 'CONFIG_DYNSEL_CACHE = y'{around}")
        self.expect("CONFIG_DYNSEL_CACHE= y\n", f"1: blank around the value in 'CONFIG_DYNSEL_CACHE= y'{around}")
        self.expect("CONFIG_DYNSEL_CACHE=y \n", f"1: blank around the value in 'CONFIG_DYNSEL_CACHE=y '{around}")
        self.expect(" CONFIG_DYNSEL_CACHE=y\n",
                    "1: blank before 'CONFIG_DYNSEL_CACHE=y'; an assignment begins the line")
        self.expect("CONFIG_DYNSEL_CACHE=y # why\n",
                    "1: one value is expected, not 'y # why'; a comment needs a line of its own")
        self.expect("CONFIG_DYNSEL_CACHE\n",
                    "1: 'CONFIG_DYNSEL_CACHE' is not an assignment; write CONFIG_NAME=value")
        self.expect("CONFIG_DYNSEL_CACHE=\n", "1: no value after '=' in 'CONFIG_DYNSEL_CACHE='; write CONFIG_NAME=value")
        self.expect("DYNSEL_CACHE=y\n",
                    "1: 'DYNSEL_CACHE' has no CONFIG_ in front; write CONFIG_DYNSEL_CACHE=y")
        self.expect("CONFIG_DYNSEL-CACHE=y\n",
                    "1: 'CONFIG_DYNSEL-CACHE' is not a name; letters, digits and _ follow CONFIG_")
        self.expect('CONFIG_DYNSEL_GREETING="a"b"\n',
                    '1: unfinished or badly quoted text "a"b"; inside, write \\" and \\\\')
        self.expect("CONFIG_DYNSEL_CACHE=y\r\n",
                    "1: the line ends in CR LF; convert the file to Unix line ends")
        self.expect("\ufeffCONFIG_DYNSEL_CACHE=y\n",
                    "1: a byte order mark; save the file as UTF-8 without one")
        for comment in ("#CONFIG_DYNSEL_CACHE is not set", "# CONFIG_DYNSEL_CACHE  is not set",
                        "# CONFIG_DYNSEL_CACHE is not set.", "# CONFIG_DYNSEL_CACHE=y"):
            self.expect(comment + "\n", f"1: {comment!r} is neither a comment nor an assignment;"
                        " write CONFIG_NAME=n, or begin the comment with another word")

    def test_second_assignment_in_file_is_refused(self):
        self.expect("CONFIG_DYNSEL_CACHE=y\nCONFIG_DYNSEL_CACHE=y\n",
                    "2: CONFIG_DYNSEL_CACHE is set a second time in this file (first in line 1);"
                    " delete one of the two")

    def test_wrong_choice_assignment_error_names_members(self):
        self.expect("CONFIG_DYNSEL_COLOUR_RED=y\nCONFIG_DYNSEL_COLOUR_BLUE=y\n",
                    "2: CONFIG_DYNSEL_COLOUR_BLUE=y but line 1 already chose CONFIG_DYNSEL_COLOUR_RED"
                    " of the same choice DYNSEL_COLOUR; delete one of the two")
        self.expect("# CONFIG_DYNSEL_COLOUR_RED is not set\n",
                    "1: CONFIG_DYNSEL_COLOUR_RED=n did not take effect (is y): a choice always has one"
                    " member; name the wanted one: CONFIG_DYNSEL_COLOUR_BLUE=y or"
                    " CONFIG_DYNSEL_COLOUR_RADIO=y")
        self.expect("CONFIG_DYNSEL_COLOUR_RADIO=y\n",
                    "1: CONFIG_DYNSEL_COLOUR_RADIO=y did not take effect (is n): DYNSEL_RADIO is n")

    def test_assignment_to_option_without_prompt_is_refused(self):
        self.expect("CONFIG_DYNSEL_HAS_RADIO=y\n",
                    "1: CONFIG_DYNSEL_HAS_RADIO has no prompt: it follows from other options and"
                    " cannot be set; delete the line")

    def test_mistakes_in_several_files_are_reported_together(self):
        lines = self.mistakes("plain", board__plain="CONFIG_DYNSEL_MASK=300\n",
                              a="CONFIG_DYNSEL_RADIO=y\nCONFIG_NONE=y\n", b="x = y\n")
        self.assertEqual([line.split(": ")[0] for line in lines],
                         ["boards/plain/defconfig:1", "configs/a.conf:1", "configs/a.conf:2",
                          "configs/b.conf:1"])


class Layers(Case):
    def test_later_layer_overrides_with_note(self):
        config = self.load(a="CONFIG_DYNSEL_CACHE=y\nCONFIG_DYNSEL_COLOUR_RED=y\n",
                           b="CONFIG_DYNSEL_CACHE=n\nCONFIG_DYNSEL_COLOUR_BLUE=y\n")
        self.assertFalse(config["DYNSEL_CACHE"])
        self.assertTrue(config["DYNSEL_COLOUR_BLUE"])
        self.assertEqual(config.notes, [
            "configs/a.conf:1: CONFIG_DYNSEL_CACHE=y is overridden by configs/b.conf:1"
            " (CONFIG_DYNSEL_CACHE=n)",
            "configs/a.conf:2: CONFIG_DYNSEL_COLOUR_RED=y is overridden by configs/b.conf:2"
            " (CONFIG_DYNSEL_COLOUR_BLUE=y)"])

    def test_number_lost_with_its_feature_is_noted(self):
        config = self.load(a="CONFIG_DYNSEL_CACHE=y\nCONFIG_DYNSEL_CACHE_LINES=9\n", b="CONFIG_DYNSEL_CACHE=n\n")
        self.assertIn("configs/a.conf:2: CONFIG_DYNSEL_CACHE_LINES=9 did not take effect (is without a"
                      " value): DYNSEL_CACHE is n (configs/b.conf:1)", config.notes)

    def test_feature_lost_through_later_layer_is_error(self):
        lines = self.mistakes("radio", a="CONFIG_DYNSEL_CACHE=y\nCONFIG_DYNSEL_RADIO=y\n",
                              b="CONFIG_DYNSEL_CACHE=n\n")
        self.assertEqual(lines, [
            "configs/a.conf:2: CONFIG_DYNSEL_RADIO=y did not take effect (is n): DYNSEL_CACHE is n"
            " (configs/b.conf:1); if this is intended, add CONFIG_DYNSEL_RADIO=n to the file that switches it off"])
        config = self.load("radio", a="CONFIG_DYNSEL_CACHE=y\nCONFIG_DYNSEL_RADIO=y\n",
                           b="CONFIG_DYNSEL_CACHE=n\nCONFIG_DYNSEL_RADIO=n\n")
        self.assertFalse(config["DYNSEL_RADIO"])


class KconfigItself(Case):
    """What Kconfiglib warns about, or cannot read, stops the build too."""

    def test_select_past_dependency_is_error(self):
        lines = self.mistakes(kconfig=support.KCONFIG + "config DYNSEL_BAD\n\tdef_bool y\n\tselect DYNSEL_RADIO\n")
        self.assertEqual(len(lines), 1)
        self.assertIn("DYNSEL_RADIO", lines[0])
        self.assertIn("has direct dependencies", lines[0])

    def test_name_of_no_option_is_error_with_its_line(self):
        bad = "config DYNSEL_BAD\n\tbool\n\t# not DYNSEL_CASHE\n\tdepends on DYNSEL_TYPO\n\tdefault y if DYNSEL_CASHE\n"
        first = support.KCONFIG.count("\n") + 1
        self.assertEqual(self.mistakes(kconfig=support.KCONFIG + bad), [
            f"Kconfig:{first + 3}: no option named DYNSEL_TYPO; correct the name, or delete what needs it",
            f"Kconfig:{first + 4}: no option named DYNSEL_CASHE; did you mean DYNSEL_CACHE?"])

    def test_kconfig_syntax_error_names_line(self):
        self.assertIn("Kconfig:", self.mistakes(kconfig=support.KCONFIG + "konfig X\n")[0])


class Names(Case):
    def test_unknown_board_or_fragment_error_names_nearest(self):
        top = support.menu_tree(debug="")
        self.addCleanup(shutil.rmtree, top)
        for arguments, message in (
                ({"BOARD": "plane"}, "no board named 'plane'; did you mean plain? (there are: plain, radio)"),
                ({"BOARD": "plain", "CONF": "debgu"},
                 "no fragment named 'debgu'; did you mean debug? (there are: debug)"),
                ({"BOARD": "plain", "CONF": "debug,debug"}, "fragment debug is named twice in plain+debug+debug"),
                ({"VARIANTS": "plain", "CONF": "debug"},
                 "VARIANTS= names boards and fragments itself; leave out BOARD= and CONF="),
                ({"BOARD": ","}, "BOARD= and VARIANTS= need at least one name; boards: plain, radio")):
            with self.assertRaises(UserMistake) as caught:
                variants.chosen(own(top), arguments)
            self.assertEqual(caught.exception.lines, [message])
        names = [v.name for v in variants.chosen(own(top), {"VARIANTS": "plain,radio+debug plain"})]
        self.assertEqual(names, ["plain", "radio+debug"])

    def test_setting_in_variant_name_takes_effect(self):
        top = support.menu_tree(debug="")
        self.addCleanup(shutil.rmtree, top)
        for arguments in ({"BOARD": "plain", "CONF": "debug~CACHE=y~CACHE_LINES=3"},
                          {"VARIANTS": "plain+debug~CACHE=y~CACHE_LINES=3"}):
            (variant,) = variants.chosen(own(top), arguments)
            self.assertEqual(variant.name, "plain+debug~CACHE=y~CACHE_LINES=3")
            config = configs.load(own(top), variant.board, variant.layers(own(top)), variant.name)
            self.assertEqual(config["DYNSEL_CACHE_LINES"], 3)

    def test_matrix_flips_each_option_once(self):
        top = support.menu_tree(board__radio="CONFIG_DYNSEL_CACHE=y\nCONFIG_DYNSEL_RADIO=y\n")
        self.addCleanup(shutil.rmtree, top)
        flipped, notes = matrix.flipped(own(top), variants.Variant("radio"))
        self.assertEqual(notes, [])
        self.assertEqual([v.name for v in flipped], ["radio~CACHE=n~RADIO=n", "radio~RADIO=n",
                                                    "radio~COLOUR_BLUE=y", "radio~COLOUR_RADIO=y"])

    def test_why_prints_origin_and_conditions(self):
        config = self.load("radio", f="CONFIG_DYNSEL_CACHE_LINES=9\nCONFIG_DYNSEL_CACHE=y\n")
        for name in ("cache_lines", "DYNSEL_CACHE_LINES", "CONFIG_DYNSEL_CACHE_LINES"):
            lines = explain.why(config, name)
            self.assertEqual(lines[0], "DYNSEL_CACHE_LINES = 9   in radio+f")
            self.assertIn("  type      int, 1 to 64", lines)
            self.assertIn("  set by    configs/f.conf:1 (CONFIG_DYNSEL_CACHE_LINES=9)", lines)
        self.assertIn("  blocked   DYNSEL_CACHE is n", explain.why(self.load("radio"), "radio"))
        self.assertIn("  selected  by DYNSEL_BOARD_RADIO (y)", explain.why(config, "has_radio"))
        with self.assertRaisesRegex(UserMistake, "no option named CASHE; did you mean DYNSEL_CACHE"):
            explain.why(config, "CASHE")

    def test_diffconfig_prints_changed_values(self):
        lines = explain.diff(self.load("plain"), self.load("plain", f="CONFIG_DYNSEL_CACHE=y\n"))
        self.assertEqual(lines, ["DYNSEL_CACHE        n               -> y",
                                 "DYNSEL_CACHE_LINES  without a value -> 8"])


if __name__ == "__main__":
    unittest.main()
